"""The command as one would type it again."""

import shlex

import typer

# They take up a run that was stopped; to repeat it takes a run from the beginning.
_ONCE = {"resume", "force"}


def command_of(context: typer.Context) -> str:
    """Write the command that runs: the verb and all that was said, quoted."""
    words = ["kfriendly", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in _ONCE:
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
