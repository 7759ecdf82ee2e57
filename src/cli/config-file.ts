// The file of client configuration as it is changed by commands: read as a value, so that what we do not know stays in it.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { configFiles } from '../client/node/load-config.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { Failure } from './failure.js'
import { yamlText } from './output/documents.js'

export interface NamedEntry {
  readonly name: string
  readonly [member: string]: unknown
}

export interface ConfigDocument {
  readonly apiVersion: string
  readonly kind: string
  readonly clusters: readonly NamedEntry[]
  readonly users: readonly NamedEntry[]
  readonly contexts: readonly NamedEntry[]
  readonly 'current-context': string
  readonly [member: string]: unknown
}

const empty: ConfigDocument = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  users: [],
  contexts: [],
  'current-context': '',
  preferences: {},
}

/** The one that is changed: the first that is there, or the first of the list. */
export function changedFile(named: string | undefined): string {
  const files = configFiles({ file: named })
  return files.find((file) => existsSync(file)) ?? (files[0] as string)
}

export function readDocument(file: string): ConfigDocument {
  if (!existsSync(file)) return empty
  const { value } = readYaml(readFileSync(file, 'utf8'))
  if (value === null) return empty
  if (typeof value !== 'object' || Array.isArray(value)) throw new Failure(`${file} is no client configuration`)
  const document = value as unknown as Partial<ConfigDocument>
  return { ...empty, ...document, clusters: document.clusters ?? [], users: document.users ?? [], contexts: document.contexts ?? [] }
}

/** Whole or not at all, and for nobody else's eyes. */
export function writeDocument(file: string, document: ConfigDocument): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}.draft`
  writeFileSync(draft, yamlText(document), { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
}

export type Section = 'clusters' | 'users' | 'contexts'

const members = { clusters: 'cluster', users: 'user', contexts: 'context' } as const

export const entryOf = (document: ConfigDocument, section: Section, name: string): { readonly [member: string]: unknown } | undefined =>
  document[section].find((one) => one.name === name)?.[members[section]] as { readonly [member: string]: unknown } | undefined

/** With an entry under a name; undefined takes it away. */
export function withEntry(document: ConfigDocument, section: Section, name: string, entry: object | undefined): ConfigDocument {
  const isThere = document[section].some((one) => one.name === name)
  const changed = document[section].flatMap((one) =>
    one.name !== name ? [one] : entry === undefined ? [] : [{ ...one, [members[section]]: entry }],
  )
  return { ...document, [section]: isThere || entry === undefined ? changed : [...changed, { name, [members[section]]: entry }] }
}
