// One value of a client configuration, as `config set` and `config unset` name it: clusters.NAME.server, current-context, users.NAME.exec.command.

import { existsSync } from 'node:fs'
import { configFiles } from '../client/node/load-config.js'
import { type ConfigDocument, changedFile, entryOf, fileWith, type Section, withEntry } from './config-file.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'

type Kind = 'text' | 'bytes' | 'switch' | 'list'

const fields: { readonly [section in Section]: { readonly [field: string]: Kind } } = {
  clusters: {
    server: 'text',
    'tls-server-name': 'text',
    'insecure-skip-tls-verify': 'switch',
    'certificate-authority': 'text',
    'certificate-authority-data': 'bytes',
    'proxy-url': 'text',
    'disable-compression': 'switch',
  },
  users: {
    'client-certificate': 'text',
    'client-certificate-data': 'bytes',
    'client-key': 'text',
    'client-key-data': 'bytes',
    token: 'text',
    tokenFile: 'text',
    username: 'text',
    password: 'text',
    as: 'text',
    'as-uid': 'text',
    'as-groups': 'list',
    'exec.apiVersion': 'text',
    'exec.command': 'text',
    'exec.args': 'list',
    'exec.installHint': 'text',
    'exec.provideClusterInfo': 'switch',
    'exec.interactiveMode': 'text',
  },
  contexts: { cluster: 'text', user: 'text', namespace: 'text' },
}

interface EntryProperty {
  readonly kind: 'entry'
  readonly section: Section
  readonly name: string
  /** Empty for the whole entry. */
  readonly field: string
}

export type Property =
  | { readonly kind: 'current-context' }
  | { readonly kind: 'colors' }
  | { readonly kind: 'section'; readonly section: Section }
  | EntryProperty

const isSection = (text: string): text is Section => Object.hasOwn(fields, text)

/** Names may contain dots: what stands at the end is known. */
export function propertyOf(text: string): Property {
  if (text === 'current-context') return { kind: 'current-context' }
  if (text === 'preferences.colors') return { kind: 'colors' }
  const [section = '', ...rest] = text.split('.')
  if (!isSection(section))
    throw new UsageError(`unknown property "${text}": it begins with clusters, users or contexts and a name, or is current-context`)
  if (rest.length === 0) return { kind: 'section', section }
  const path = rest.join('.')
  const field = Object.keys(fields[section]).find((one) => path.endsWith(`.${one}`)) ?? (path.endsWith('.exec') ? 'exec' : '')
  return { kind: 'entry', section, name: field === '' ? path : path.slice(0, -field.length - 1), field }
}

/** The file that has it, or that is to have it. */
export const fileOfProperty = (named: string | undefined, property: Property): string =>
  property.kind === 'entry'
    ? fileWith(named, property.section, property.name)
    : property.kind === 'current-context'
      ? changedFile(named, (document) => document['current-context'] !== '')
      : changedFile(named)

/** All files that say something about it: what one does not say any more, the next would. */
export const filesWithProperty = (named: string | undefined, property: Property): readonly string[] =>
  property.kind === 'entry' ? [fileOfProperty(named, property)] : configFiles({ file: named }).filter((file) => existsSync(file))

export function withProperty(document: ConfigDocument, property: Property, text: string, isRaw: boolean): ConfigDocument {
  if (property.kind === 'current-context') return { ...document, 'current-context': text }
  if (property.kind === 'colors')
    return { ...document, preferences: { ...(document['preferences'] as object | undefined), colors: switchOf(text) } }
  if (property.kind === 'section' || property.field === '' || property.field === 'exec') throw unknownField(property)
  const { section, name, field } = property
  const value = readValue(fields[section][field] as Kind, text, isRaw)
  return withEntry(document, section, name, setIn(entryOf(document, section, name) ?? {}, field.split('.'), value))
}

function unknownField(property: Extract<Property, { kind: 'section' | 'entry' }>): UsageError {
  const name = property.kind === 'entry' ? property.name.split('.')[0] : 'NAME'
  const known = Object.keys(fields[property.section]).map((field) => `${property.section}.${name}.${field}`)
  return new UsageError(`no single value is named so; there are ${known.join(', ')}`)
}

export function withoutProperty(document: ConfigDocument, property: Property): ConfigDocument {
  if (property.kind === 'current-context') return { ...document, 'current-context': '' }
  if (property.kind === 'colors') return { ...document, preferences: {} }
  if (property.kind === 'section') return { ...document, [property.section]: [] }
  const { section, name, field } = property
  const entry = entryOf(document, section, name)
  if (entry === undefined) throw new Failure(`there is no ${section.slice(0, -1)} "${name}" in the configuration`)
  return withEntry(document, section, name, field === '' ? undefined : setIn(entry, field.split('.'), undefined))
}

function readValue(kind: Kind, text: string, isRaw: boolean): unknown {
  if (kind === 'switch') return switchOf(text)
  if (kind === 'list') return text === '' ? [] : text.split(',')
  if (kind === 'text') return text
  const bytes = isRaw ? Buffer.from(text) : Buffer.from(text, 'base64')
  if (!isRaw && bytes.toString('base64').replaceAll('=', '') !== text.trim().replaceAll('=', ''))
    throw new UsageError('the value is not in base64; --set-raw-bytes takes it as it is')
  return bytes.toString('base64')
}

function switchOf(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new UsageError(`the value is either true or false, not "${text}"`)
  return text === 'true'
}

function setIn(object: object, [first = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (object as { readonly [name: string]: unknown })[first]
  const next = rest.length === 0 ? value : setIn((inner as object | undefined) ?? {}, rest, value)
  return Object.fromEntries(Object.entries({ ...object, [first]: next }).filter(([, one]) => one !== undefined))
}
