// The payload of objects: lines with the tenant's mark and the id of the request that wrote them, so that any mixture shows.

/** Lines with commas, which make the server treat the object as large. */
export function payloadText(mark: string, id: string, bytes: number): string {
  const lines: string[] = []
  for (let length = 0, i = 0; length < bytes || i === 0; i++) {
    const line = `${mark},${id},${i}`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n')
}

/** True if every line is of the same request. */
export function isIntactPayload(mark: string, payload: string): boolean {
  const id = payload.slice(mark.length + 1, payload.indexOf(',', mark.length + 1))
  return payload === payloadText(mark, id, payload.length)
}

/** Request ids have the same length, so that one can replace another in Protobuf bytes. */
export class RequestIds {
  readonly #char: string
  #last = 0

  constructor(char: string) {
    this.#char = char
  }

  next(): string {
    this.#last += 1
    return `id-${this.#char}-${String(this.#last).padStart(7, '0')}`
  }
}

export type Size = 'small' | 'medium' | 'large' | 'very large'

export const sizes: Readonly<Record<Size, readonly [number, number]>> = {
  small: [100, 1000],
  medium: [20_000, 40_000],
  large: [200_000, 400_000],
  'very large': [900_000, 1_300_000],
}
