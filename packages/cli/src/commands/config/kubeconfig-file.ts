// Writing of kubeconfig files: lock, change, atomic replace. Unknown fields are preserved.

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
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { configFiles } from '@cluster-apiserver/client/node/load-kubeconfig.js'
import { CommandError } from '../../command-line/errors.js'
import { yamlText } from '../../output/documents.js'

interface NamedEntry {
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

const emptyDocument: ConfigDocument = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  users: [],
  contexts: [],
  'current-context': '',
  preferences: {},
}

/** Returns the file to change: the first with the entry, else the first that exists, else the first of all. */
export function changedFile(kubeconfigFlag: string | undefined, hasEntry: (document: ConfigDocument) => boolean = () => false): string {
  const files = configFiles({ file: kubeconfigFlag })
  const existing = files.filter((file) => existsSync(file))
  return existing.find((file) => hasEntry(readDocument(file))) ?? existing[0] ?? (files[0] as string)
}

export const fileWith = (kubeconfigFlag: string | undefined, section: Section, name: string): string =>
  changedFile(kubeconfigFlag, (document) => entryOf(document, section, name) !== undefined)

function readDocument(file: string): ConfigDocument {
  if (!existsSync(file)) return emptyDocument
  const { value } = readYaml(readFileSync(file, 'utf8'))
  if (value === null) return emptyDocument
  if (typeof value !== 'object' || Array.isArray(value)) throw new CommandError(`${file} is not a kubeconfig`)
  const document = value as unknown as Partial<ConfigDocument>
  return {
    ...emptyDocument,
    ...document,
    clusters: document.clusters ?? [],
    users: document.users ?? [],
    contexts: document.contexts ?? [],
  }
}

const lockTimeoutMs = 5000

export async function changeDocument(file: string, change: (document: ConfigDocument) => ConfigDocument): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // Same lock file as kubectl.
  const lock = `${file}.lock`
  await takeLock(lock)
  try {
    writeDocument(file, change(readDocument(file)))
  } finally {
    rmSync(lock, { force: true })
  }
}

async function takeLock(lock: string): Promise<void> {
  for (const deadlineMs = performance.now() + lockTimeoutMs; ; await sleep(20)) {
    try {
      closeSync(openSync(lock, 'wx', 0o600))
      return
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
      if (performance.now() > deadlineMs)
        throw new CommandError(`${lock} exists: another process changes the kubeconfig; if none does, remove the file`)
    }
  }
}

/** Replaces the file atomically with mode 0600. Follows symbolic links. */
function writeDocument(file: string, document: ConfigDocument): void {
  const target = existsSync(file) ? realpathSync(file) : file
  const temporaryFile = `${target}.${process.pid}.draft`
  writeFileSync(temporaryFile, yamlText(document), { mode: 0o600 })
  chmodSync(temporaryFile, 0o600)
  renameSync(temporaryFile, target)
}

export type Section = 'clusters' | 'users' | 'contexts'

const members = { clusters: 'cluster', users: 'user', contexts: 'context' } as const

export const entryOf = (document: ConfigDocument, section: Section, name: string): { readonly [member: string]: unknown } | undefined =>
  document[section].find((item) => item.name === name)?.[members[section]] as { readonly [member: string]: unknown } | undefined

export function withEntry(document: ConfigDocument, section: Section, name: string, entry: object | undefined): ConfigDocument {
  const exists = document[section].some((item) => item.name === name)
  const changed = document[section].flatMap((item) =>
    item.name !== name ? [item] : entry === undefined ? [] : [{ ...item, [members[section]]: entry }],
  )
  return { ...document, [section]: exists || entry === undefined ? changed : [...changed, { name, [members[section]]: entry }] }
}
