// `config set` and `config unset`: one property such as clusters.NAME.server or current-context.

import { existsSync } from 'node:fs'
import { configFiles } from '@cluster-apiserver/client/node/load-kubeconfig.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { type ConfigDocument, changeDocument, changedFile, entryOf, fileWith, type Section, withEntry } from './kubeconfig-file.js'

export const configSet = defineCommand({
  usage: 'config set PROPERTY VALUE [--set-raw-bytes]',
  examples: ['config set clusters.shop.server https://shop.example.com', 'config set contexts.shop.namespace prices'],
  flags: { 'set-raw-bytes': { kind: 'switch', help: 'the value of certificates and keys is raw, not base64' } },
  run: async ({ args, flags, io }) => {
    const [name, value, ...extraArgs] = args
    if (name === undefined || value === undefined || extraArgs.length > 0) throw new UsageError('PROPERTY and VALUE are required')
    const property = propertyOf(name)
    await changeDocument(fileOfProperty(flags.kubeconfig, property), (document) =>
      withProperty(document, property, value, flags['set-raw-bytes']),
    )
    io.out(`Property "${name}" set.\n`)
    return 0
  },
})

export const configUnset = defineCommand({
  usage: 'config unset PROPERTY',
  examples: ['config unset contexts.shop.namespace', 'config unset users.old', 'config unset current-context'],
  flags: {},
  run: async ({ args, flags, io }) => {
    const [name, ...extraArgs] = args
    if (name === undefined || extraArgs.length > 0) throw new UsageError('exactly one PROPERTY is required')
    const property = propertyOf(name)
    for (const file of filesWithProperty(flags.kubeconfig, property))
      await changeDocument(file, (document) => withoutProperty(document, property))
    io.out(`Property "${name}" unset.\n`)
    return 0
  },
})

type ValueKind = 'text' | 'bytes' | 'switch' | 'list'

const fields: { readonly [section in Section]: { readonly [field: string]: ValueKind } } = {
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
  readonly field: string
}

type Property =
  | { readonly kind: 'current-context' }
  | { readonly kind: 'colors' }
  | { readonly kind: 'section'; readonly section: Section }
  | EntryProperty

const isSection = (text: string): text is Section => Object.hasOwn(fields, text)

/** Names may contain dots, so the field is matched at the end. */
function propertyOf(text: string): Property {
  if (text === 'current-context') return { kind: 'current-context' }
  if (text === 'preferences.colors') return { kind: 'colors' }
  const [section = '', ...rest] = text.split('.')
  if (!isSection(section))
    throw new UsageError(`unknown property "${text}": must be current-context, or begin with clusters.NAME, users.NAME or contexts.NAME`)
  if (rest.length === 0) return { kind: 'section', section }
  const path = rest.join('.')
  const field = Object.keys(fields[section]).find((candidate) => path.endsWith(`.${candidate}`)) ?? (path.endsWith('.exec') ? 'exec' : '')
  return { kind: 'entry', section, name: field === '' ? path : path.slice(0, -field.length - 1), field }
}

const fileOfProperty = (kubeconfigFlag: string | undefined, property: Property): string =>
  property.kind === 'entry'
    ? fileWith(kubeconfigFlag, property.section, property.name)
    : property.kind === 'current-context'
      ? changedFile(kubeconfigFlag, (document) => document['current-context'] !== '')
      : changedFile(kubeconfigFlag)

/** Files from which `config unset` removes the property. All files unless it is an entry: the value of a later file would apply. */
const filesWithProperty = (kubeconfigFlag: string | undefined, property: Property): readonly string[] =>
  property.kind === 'entry'
    ? [fileOfProperty(kubeconfigFlag, property)]
    : configFiles({ file: kubeconfigFlag }).filter((file) => existsSync(file))

function withProperty(document: ConfigDocument, property: Property, text: string, isRaw: boolean): ConfigDocument {
  if (property.kind === 'current-context') return { ...document, 'current-context': text }
  if (property.kind === 'colors')
    return { ...document, preferences: { ...(document['preferences'] as object | undefined), colors: switchOf(text) } }
  if (property.kind === 'section' || property.field === '' || property.field === 'exec') throw unknownField(property)
  const { section, name, field } = property
  const value = readValue(fields[section][field] as ValueKind, text, isRaw)
  return withEntry(document, section, name, setIn(entryOf(document, section, name) ?? {}, field.split('.'), value))
}

function unknownField(property: Extract<Property, { kind: 'section' | 'entry' }>): UsageError {
  const name = property.kind === 'entry' ? property.name.split('.')[0] : 'NAME'
  const properties = Object.keys(fields[property.section]).map((field) => `${property.section}.${name}.${field}`)
  return new UsageError(`not a single value; supported: ${properties.join(', ')}`)
}

function withoutProperty(document: ConfigDocument, property: Property): ConfigDocument {
  if (property.kind === 'current-context') return { ...document, 'current-context': '' }
  if (property.kind === 'colors') return { ...document, preferences: {} }
  if (property.kind === 'section') return { ...document, [property.section]: [] }
  const { section, name, field } = property
  const entry = entryOf(document, section, name)
  if (entry === undefined) throw new CommandError(`${section.slice(0, -1)} "${name}" does not exist`)
  return withEntry(document, section, name, field === '' ? undefined : setIn(entry, field.split('.'), undefined))
}

function readValue(kind: ValueKind, text: string, isRaw: boolean): unknown {
  if (kind === 'switch') return switchOf(text)
  if (kind === 'list') return text === '' ? [] : text.split(',')
  if (kind === 'text') return text
  const bytes = isRaw ? Buffer.from(text) : Buffer.from(text, 'base64')
  if (!isRaw && bytes.toString('base64').replaceAll('=', '') !== text.trim().replaceAll('=', ''))
    throw new UsageError('the value is not base64; use --set-raw-bytes for raw values')
  return bytes.toString('base64')
}

function switchOf(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new UsageError(`the value must be true or false, not "${text}"`)
  return text === 'true'
}

function setIn(object: object, [first = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (object as { readonly [name: string]: unknown })[first]
  const next = rest.length === 0 ? value : setIn((inner as object | undefined) ?? {}, rest, value)
  return Object.fromEntries(Object.entries({ ...object, [first]: next }).filter(([, member]) => member !== undefined))
}
