// Shortens client input in messages: a request of megabytes must not be echoed.

const maxShownChars = 256
/** Texts up to twice the maximum are shown in full. */
const leeway = 2

export function shorten(text: string, maxChars = maxShownChars): string {
  if (text.length <= maxChars * leeway) return text
  const splitsPair = isHighSurrogate(text.charCodeAt(maxChars - 1))
  return `${text.slice(0, splitsPair ? maxChars - 1 : maxChars)}...`
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

export const listSome = (texts: readonly string[], omitted: number): string =>
  omitted > 0 ? `${texts.join(', ')}, and ${omitted} more` : texts.join(', ')
