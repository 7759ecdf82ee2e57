// JSON of the tables of vectors: integers are bigints, whatever has a point or an exponent is a number.

export function parseExactJson(text: string): unknown {
  let at = 0
  const space = /[\t\n\r ]*/y
  const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y
  const string = /"(?:[^"\\]|\\.)*"/y

  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const expect = (letter: string): void => {
    take(space)
    if (text[at] !== letter) throw new Error(`${letter} expected at ${at}`)
    at++
  }
  const isNext = (letter: string): boolean => {
    take(space)
    if (text[at] !== letter) return false
    at++
    return true
  }
  const value = (): unknown => {
    take(space)
    const letter = text[at]
    if (letter === '{') {
      at++
      const members: [string, unknown][] = []
      if (isNext('}')) return {}
      do {
        take(space)
        const name = JSON.parse(take(string)) as string
        expect(':')
        members.push([name, value()])
      } while (isNext(','))
      expect('}')
      return Object.fromEntries(members)
    }
    if (letter === '[') {
      at++
      const items: unknown[] = []
      if (isNext(']')) return items
      do items.push(value())
      while (isNext(','))
      expect(']')
      return items
    }
    if (letter === '"') return JSON.parse(take(string))
    for (const [word, meaning] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (text.startsWith(word, at)) {
        at += word.length
        return meaning
      }
    }
    const digits = take(number)
    if (digits === '') throw new Error(`a value expected at ${at}`)
    return /[.eE]/.test(digits) ? Number(digits) : BigInt(digits)
  }
  return value()
}
