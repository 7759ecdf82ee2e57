// A text from outside as a message may repeat it: the beginning, if it is long. Who sends megabytes shall not get them back.

const mostShown = 256

/** The text itself, or its first 256 characters and three dots. */
export function shorten(text: string, most = mostShown): string {
  if (text.length <= most) return text
  // Half of a pair would become a replacement character on its way out.
  const splitsPair = isHighSurrogate(text.charCodeAt(most - 1))
  return `${text.slice(0, splitsPair ? most - 1 : most)}...`
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
