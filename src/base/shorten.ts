// A text from outside as a message may repeat it: the beginning, if it is long. Who sends megabytes shall not get them back.

const mostShown = 256

/** A text that is little longer is shown whole: a name that is a little too long shall be recognized in the answer. */
const leeway = 2

/** The text itself, or its first 256 characters and three dots. */
export function shorten(text: string, most = mostShown): string {
  if (text.length <= most * leeway) return text
  // Half of a pair would become a replacement character on its way out.
  const splitsPair = isHighSurrogate(text.charCodeAt(most - 1))
  return `${text.slice(0, splitsPair ? most - 1 : most)}...`
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** A list of texts for a message, and how many more there are that it does not name. */
export const listSome = (texts: readonly string[], more: number): string =>
  more > 0 ? `${texts.join(', ')}, and ${more} more` : texts.join(', ')
