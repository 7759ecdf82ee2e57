// Escapes characters that JSON leaves as they are, and that a terminal may obey or a reader may take for the end of a line.

/** C1 control characters (U+009B begins an escape sequence) and the line and paragraph separators. */
const controls = /[\x80-\x9f\u2028\u2029]/g

/** For a line in which such characters stand in quoted texts only. */
export const escapeControls = (line: string): string =>
  line.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
