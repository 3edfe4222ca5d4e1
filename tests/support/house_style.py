"""What every message of whyroute looks like."""


def broken_rules(message: object) -> list[str]:
    """The rules of style that a message breaks; none when it is fine."""
    if not isinstance(message, str) or not message.strip():
        return ["empty, or no text"]
    broken = []
    if message != message.strip() or "\n" in message:
        broken.append("stray white space")
    if message[0].isupper():
        broken.append("starts with a capital")
    if message.endswith("."):
        broken.append("ends with a period")
    if message.count("`") % 2:
        broken.append("a backtick without its twin")
    return broken
