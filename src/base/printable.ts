// Text of others as a terminal may show it: no control character acts on it, each is shown instead.

/** All control characters but line breaks and tabs. */
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g

/** Line breaks and tabs stay; ESC becomes `^[`, as the original's command line writes it. */
export const printable = (text: string): string => text.replaceAll(controls, shown)

/** In one line. */
export const printableLine = (text: string): string => printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

function shown(letter: string): string {
  const code = letter.charCodeAt(0)
  if (letter === '\r') return '\\r'
  // What JSON may hold unescaped means the same when it is written like this.
  return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : `\\u00${code.toString(16)}`
}
