// JSON parser for the tables (tables.ts) that keeps integers beyond 2^53: all integers become bigints, other numbers are numbers.

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
  const expect = (char: string): void => {
    take(space)
    if (text[at] !== char) throw new Error(`${char} expected at ${at}`)
    at++
  }
  const isNext = (char: string): boolean => {
    take(space)
    if (text[at] !== char) return false
    at++
    return true
  }
  const value = (): unknown => {
    take(space)
    const char = text[at]
    if (char === '{') {
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
    if (char === '[') {
      at++
      const items: unknown[] = []
      if (isNext(']')) return items
      do items.push(value())
      while (isNext(','))
      expect(']')
      return items
    }
    if (char === '"') return JSON.parse(take(string))
    for (const [word, literal] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (text.startsWith(word, at)) {
        at += word.length
        return literal
      }
    }
    const digits = take(number)
    if (digits === '') throw new Error(`a value expected at ${at}`)
    return /[.eE]/.test(digits) ? Number(digits) : BigInt(digits)
  }
  return value()
}
