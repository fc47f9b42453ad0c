"""The embedded demonstration: claims of the papers beside what the zoo shows; nothing below knows it."""
