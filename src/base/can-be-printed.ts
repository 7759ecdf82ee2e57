// Which characters can be printed: letters, marks, numbers, punctuation and symbols of all scripts, and of all spaces only the plain one.

/** What most texts are made of; to compile the pattern for all scripts takes milliseconds, which is done when it is needed. */
const plain = /^[ -~]*$/
let unprintable: RegExp | undefined

/** Where the first character stands that cannot be printed; -1 where there is none. */
export function indexOfUnprintable(text: string): number {
  if (plain.test(text)) return -1
  unprintable ??= /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u
  return text.search(unprintable)
}

export const canBePrinted = (text: string): boolean => indexOfUnprintable(text) < 0
