// Printable characters: letters, marks, numbers, punctuation and symbols of all scripts, and U+0020 as the only space.

/** Fast path for ASCII, because compiling the Unicode pattern takes milliseconds. */
const printableAscii = /^[ -~]*$/
let unprintable: RegExp | undefined

export function indexOfUnprintable(text: string): number {
  if (printableAscii.test(text)) return -1
  unprintable ??= /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u
  return text.search(unprintable)
}

export const isPrintable = (text: string): boolean => indexOfUnprintable(text) < 0
