// Reads members of a value that somebody wrote by hand, and says of each that is of another type where it stands.

import { ConfigError } from '../errors.js'

export type Fields = { readonly [name: string]: unknown }

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export class FieldReader {
  readonly fields: Fields
  private readonly file: string
  private readonly place: string

  constructor(file: string, place: string, value: unknown) {
    this.file = file
    this.place = place
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.fail('', 'is no mapping')
    this.fields = value as Fields
  }

  text(name: string): string | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') this.fail(name, 'is no text')
    return value
  }

  flag(name: string): boolean | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'boolean') this.fail(name, 'is neither true nor false')
    return value
  }

  base64(name: string): string | undefined {
    const text = this.text(name)?.replaceAll(/\s/g, '')
    if (text !== undefined && (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))) this.fail(name, 'is no base64')
    return text
  }

  texts(name: string): readonly string[] | undefined {
    return this.textList(name, this.fields[name])
  }

  textLists(name: string): { readonly [key: string]: readonly string[] } | undefined {
    return this.inner(name, (reader) =>
      Object.fromEntries(Object.entries(reader.fields).map(([key, value]) => [key, reader.textList(key, value) ?? []])),
    )
  }

  inner<T>(name: string, read: (reader: FieldReader) => T): T | undefined {
    const value = this.fields[name]
    return value === undefined || value === null ? undefined : read(new FieldReader(this.file, this.at(name), value))
  }

  list<T>(name: string, read: (reader: FieldReader) => T): readonly T[] | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (!Array.isArray(value)) this.fail(name, 'is no list')
    return value.map((item, index) => read(new FieldReader(this.file, `${this.at(name)}[${index}]`, item)))
  }

  /** Entries of a list under their names; of two with the same name the first counts. */
  named<T>(list: string, member: string, read: (reader: FieldReader) => T): ReadonlyMap<string, T> {
    const entries = new Map<string, T>()
    this.list(list, (item) => {
      const name = item.text('name') ?? ''
      const entry = item.inner(member, read) ?? read(new FieldReader(this.file, item.at(member), {}))
      if (!entries.has(name)) entries.set(name, entry)
    })
    return entries
  }

  /** Without the members that are not there. */
  only<T extends object>(entry: T): Defined<T> {
    return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Defined<T>
  }

  private textList(name: string, value: unknown): readonly string[] | undefined {
    if (value === undefined || value === null) return undefined
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) this.fail(name, 'is no list of texts')
    return value as readonly string[]
  }

  private at(name: string): string {
    return this.place === '' ? name : `${this.place}.${name}`
  }

  private fail(name: string, problem: string): never {
    const place = name === '' ? this.place : this.at(name)
    throw new ConfigError(`${this.file}: ${place === '' ? 'the document' : place} ${problem}`)
  }
}
