// Quotes a text for a POSIX shell, if necessary.

export const shellQuote = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
