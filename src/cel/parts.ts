// How many parts data has, to the bottom: as much as a comparison of it may have to look at.

/** Long texts are compared letter by letter. */
const lettersPerPart = 32

export const partsOfText = (text: string): number => 1 + Math.floor(text.length / lettersPerPart)

/** `most` or more where there are as many. */
export function partsOfJson(data: unknown, most: number): number {
  if (typeof data === 'string') return partsOfText(data)
  if (typeof data !== 'object' || data === null) return 1
  let parts = 1
  if (Array.isArray(data)) for (let i = 0; i < data.length && parts < most; i++) parts += partsOfJson(data[i], most - parts)
  else {
    for (const name in data) {
      if (parts >= most) break
      parts += partsOfJson((data as { readonly [name: string]: unknown })[name], most - parts)
    }
  }
  return parts
}
