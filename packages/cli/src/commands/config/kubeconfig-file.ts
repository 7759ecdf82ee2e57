// The file of client configuration as it is changed by commands: read as a value, so that what we do not know stays in it.

import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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

/**
 * The one that is changed: the first with what is to be changed, for entries of several files are not merged with one another, and the first
 * counts. What is new goes into the first that is there, or the first of the list.
 */
export function changedFile(named: string | undefined, hasIt: (document: ConfigDocument) => boolean = () => false): string {
  const files = configFiles({ file: named })
  const there = files.filter((file) => existsSync(file))
  return there.find((file) => hasIt(readDocument(file))) ?? there[0] ?? (files[0] as string)
}

export const fileWith = (named: string | undefined, section: Section, name: string): string =>
  changedFile(named, (document) => entryOf(document, section, name) !== undefined)

export function readDocument(file: string): ConfigDocument {
  if (!existsSync(file)) return empty
  const { value } = readYaml(readFileSync(file, 'utf8'))
  if (value === null) return empty
  if (typeof value !== 'object' || Array.isArray(value)) throw new Failure(`${file} is no client configuration`)
  const document = value as unknown as Partial<ConfigDocument>
  return { ...empty, ...document, clusters: document.clusters ?? [], users: document.users ?? [], contexts: document.contexts ?? [] }
}

/** While another command changes the file. */
const patienceMs = 5000

/** What `change` makes of the file is put in its place, by one command at a time. */
export async function changeDocument(file: string, change: (document: ConfigDocument) => ConfigDocument): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // Under the name that kubectl gives it.
  const lock = `${file}.lock`
  await takeLock(lock)
  try {
    writeDocument(file, change(readDocument(file)))
  } finally {
    rmSync(lock, { force: true })
  }
}

async function takeLock(lock: string): Promise<void> {
  for (const giveUpAt = performance.now() + patienceMs; ; await sleep(20)) {
    try {
      closeSync(openSync(lock, 'wx', 0o600))
      return
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
      if (performance.now() > giveUpAt) throw new Failure(`the configuration is being changed by somebody else; if not, remove ${lock}`)
    }
  }
}

/** Whole or not at all, and for nobody else's eyes. A link stays one. */
function writeDocument(file: string, document: ConfigDocument): void {
  const place = existsSync(file) ? realpathSync(file) : file
  const draft = `${place}.${process.pid}.draft`
  writeFileSync(draft, yamlText(document), { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, place)
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
