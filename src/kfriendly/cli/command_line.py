"""The command as one would type it again."""

import shlex

import typer

# They take up a run that was stopped; to repeat it takes a run from the beginning.
_ONCE = {"resume", "force"}
# Options of a sweep that say something else to a fit.
_OF_SWEEP = {"clusters", "out", "starts", "overwrite"}


def command_of(context: typer.Context) -> str:
    """Write the command that runs: the verb and all that was said, quoted."""
    return _command(context, str(context.info_name), _ONCE)


def fit_after_sweep(context: typer.Context) -> str:
    """Write the fit that follows a sweep, but for the number of clusters."""
    return _command(context, "fit", _OF_SWEEP)


def _command(context: typer.Context, verb: str, left_out: set[str]) -> str:
    words = ["kfriendly", verb]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in left_out:
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif value is True:
            words.append(_longest(parameter.opts))
        else:
            words += [_longest(parameter.opts), str(getattr(value, "value", value))]
    return shlex.join(words)


def _longest(names: list[str]) -> str:
    return max(names, key=len)
