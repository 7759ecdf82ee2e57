// What could come next on a command line: commands, flags and their values, kinds, names of objects.

import { sortTexts } from '../base/text-order.js'
import { loadConfig } from '../client/node/load-config.js'
import type { Command } from './command.js'
import { commands } from './command-table.js'
import { type FlagTable, parseLine } from './flags.js'
import { plainWords, takesNext } from './plain-words.js'
import { Session } from './session.js'
import { usualFlags } from './usual-flags.js'

/** The last of the words is the one that is being typed. */
export async function complete(words: readonly string[]): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const found = (await candidates(before, typed)).filter((word) => word.startsWith(typed))
  return sortTexts([...new Set(found)])
}

async function candidates(before: readonly string[], typed: string): Promise<readonly string[]> {
  const plain = plainWords(before).map((place) => before[place] as string)
  const next = nextWords(plain)
  const name = [3, 2, 1].map((count) => plain.slice(0, count).join(' ')).find((one) => Object.hasOwn(commands, one))
  const isFlag = typed.startsWith('-')
  // Words of a group, and of one that stands behind a command: `create secret`.
  if (!isFlag && (name === undefined || (next.length > 0 && name.split(' ').length < plain.length)) && !isValueOf(before, usualFlags))
    return next
  const command = name === undefined ? undefined : await commands[name]?.load()
  const table: FlagTable = { ...usualFlags, ...command?.flags }
  const equals = typed.indexOf('=')
  if (isFlag && equals > 0) {
    const head = typed.slice(0, equals)
    return (await valuesOf(head, table, before)).map((value) => `${head}=${value}`)
  }
  if (isFlag) return Object.keys(table).map((flag) => `--${flag}`)
  if (isValueOf(before, table)) return valuesOf(before.at(-1) ?? '', table, before.slice(0, -1))
  return command === undefined || name === undefined ? [] : wordsFor(command, { name, table, before, typed })
}

const isValueOf = (before: readonly string[], table: FlagTable): boolean => takesNext(before.at(-1) ?? '', table)

interface Place {
  readonly name: string
  readonly table: FlagTable
  readonly before: readonly string[]
  readonly typed: string
}

/** What is no flag: kinds and names, as the usage of the command says it. */
async function wordsFor({ usage }: Command, { name, table, before, typed }: Place): Promise<readonly string[]> {
  const subcommands = nextWords(name.split(' '))
  const chosen = /^completion \((.*)\)$/.exec(usage)?.[1]?.split(' | ')
  if (chosen !== undefined) return chosen
  const entries = ofConfiguration.find(([pattern]) => pattern.test(name))?.[1]
  const { args } = parseLine(before, table)
  const rest = args.slice(name.split(' ').length)
  if (entries !== undefined) return rest.length === 0 ? [...loadConfig(fileIn(before, table))[entries].keys()] : []
  const named = ofOneKind.find(([pattern]) => pattern.test(name))?.[1]
  if (named === undefined && !/\b(?:TYPE|POD)\b/.test(usage)) return subcommands
  return withSession(before, table, async (session) => {
    const [type] = rest
    if (named !== undefined) return namesOf(session, named)
    if (typed.includes('/')) {
      const [kind = ''] = typed.split('/')
      return (await namesOf(session, kind)).map((one) => `${kind}/${one}`)
    }
    if (usage.includes('(POD')) return type === undefined ? namesOf(session, 'pods') : []
    if (type !== undefined) return type.includes('/') ? [] : namesOf(session, type)
    const { resources } = await session.resources.all()
    return [...subcommands, ...resources.filter(({ isPreferred }) => isPreferred).map(({ resource }) => resource)]
  })
}

const ofConfiguration = [
  [/^config (?:\w+-context|get-contexts)$/, 'contexts'],
  [/^config (?:set|delete)-cluster$/, 'clusters'],
  [/^config (?:set-credentials|delete-user)$/, 'users'],
] as const

const ofOneKind = [
  [/^certificate /, 'certificatesigningrequests'],
  [/^create token$/, 'serviceaccounts'],
  [/^(?:un)?cordon$/, 'nodes'],
] as const

const forms = ['json', 'yaml', 'name', 'wide', 'jsonpath=', 'jsonpath-file=', 'go-template=', 'go-template-file=', 'custom-columns=']

/** Of flags that take one of a few values, or the name of something. */
async function valuesOf(flag: string, table: FlagTable, before: readonly string[]): Promise<readonly string[]> {
  const name = flag.startsWith('--') ? flag.slice(2) : Object.entries(table).find(([, { short }]) => `-${short}` === flag)?.[0]
  switch (name) {
    case 'namespace':
      return withSession(before, table, (session) => namesOf(session, 'namespaces'))
    case 'context':
      return [...loadConfig(fileIn(before, table)).contexts.keys()]
    case 'cluster':
      return [...loadConfig(fileIn(before, table)).clusters.keys()]
    case 'user':
      return [...loadConfig(fileIn(before, table)).users.keys()]
    case 'container':
      return withSession(before, table, (session) => containersIn(session, before, table))
    case 'output':
      return forms
    case 'dry-run':
      return ['none', 'client', 'server']
    case 'cascade':
      return ['background', 'foreground', 'orphan']
    default:
      return []
  }
}

async function containersIn(session: Session, before: readonly string[], table: FlagTable): Promise<readonly string[]> {
  const { args } = parseLine(before, table)
  const pod = args[1]?.replace(/^pods?\//, '')
  if (pod === undefined || pod.includes('/')) return []
  const { spec } = await session.client.pods(session.namespace).get(pod)
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name ?? '')
}

const fileIn = (before: readonly string[], table: FlagTable): { readonly file: string | undefined } => ({
  file: (parseLine(before, table).flags as { readonly kubeconfig?: string }).kubeconfig,
})

async function withSession<T>(before: readonly string[], table: FlagTable, ask: (session: Session) => Promise<T>): Promise<T> {
  const { flags } = parseLine(before, { ...table, ...usualFlags })
  const session = new Session(flags, () => undefined)
  try {
    return await ask(session)
  } finally {
    session.close()
  }
}

/** What may stand behind these words of commands. */
const nextWords = (words: readonly string[]): readonly string[] => {
  const prefix = words.map((word) => `${word} `).join('')
  return Object.keys(commands).flatMap((one) => (one.startsWith(prefix) ? [one.slice(prefix.length).split(' ')[0] as string] : []))
}

async function namesOf(session: Session, words: string): Promise<readonly string[]> {
  const resource = await session.resources.find(words)
  const { items } = await session.client
    .collection(resource, resource.namespaced ? session.namespace : undefined)
    .metadata.list({ limit: 200 })
  return items.map(({ metadata }) => metadata?.name ?? '')
}
