// Candidates of shell completion: commands, flags and their values, resources, names of objects.

import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { loadConfig } from '@cluster-apiserver/client/node/load-kubeconfig.js'
import type { Command } from './command.js'
import { commands } from './command-table.js'
import { type FlagTable, parseLine } from './flags.js'
import { commandWordIndexes, globalFlags, takesNextArgument } from './global-flags.js'
import { Session } from './session.js'

export async function complete(words: readonly string[]): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const previousWords = words.slice(0, -1)
  const found = (await candidates(previousWords, typed)).filter((word) => word.startsWith(typed))
  return sortTexts([...new Set(found)])
}

async function candidates(previousWords: readonly string[], typed: string): Promise<readonly string[]> {
  const commandWords = commandWordIndexes(previousWords).map((index) => previousWords[index] as string)
  const next = nextWords(commandWords)
  const name = [3, 2, 1].map((count) => commandWords.slice(0, count).join(' ')).find((command) => Object.hasOwn(commands, command))
  const isFlag = typed.startsWith('-')
  if (
    !isFlag &&
    (name === undefined || (next.length > 0 && name.split(' ').length < commandWords.length)) &&
    !isValueOf(previousWords, globalFlags)
  )
    return next
  const command = name === undefined ? undefined : await commands[name]?.load()
  const table: FlagTable = { ...globalFlags, ...command?.flags }
  const equals = typed.indexOf('=')
  if (isFlag && equals > 0) {
    const head = typed.slice(0, equals)
    return (await valuesOf(head, table, previousWords)).map((value) => `${head}=${value}`)
  }
  if (isFlag) return Object.keys(table).map((flag) => `--${flag}`)
  if (isValueOf(previousWords, table)) return valuesOf(previousWords.at(-1) ?? '', table, previousWords.slice(0, -1))
  return command === undefined || name === undefined ? [] : argumentsFor(command, { name, table, previousWords, typed })
}

const isValueOf = (previousWords: readonly string[], table: FlagTable): boolean => takesNextArgument(previousWords.at(-1) ?? '', table)

interface CompletionInput {
  readonly name: string
  readonly table: FlagTable
  readonly previousWords: readonly string[]
  readonly typed: string
}

async function argumentsFor({ usage }: Command, { name, table, previousWords, typed }: CompletionInput): Promise<readonly string[]> {
  const subcommands = nextWords(name.split(' '))
  const shells = /^completion \((.*)\)$/.exec(usage)?.[1]?.split(' | ')
  if (shells !== undefined) return shells
  const entries = kubeconfigCommands.find(([pattern]) => pattern.test(name))?.[1]
  const { args } = parseLine(previousWords, table)
  const rest = args.slice(name.split(' ').length)
  if (entries !== undefined) return rest.length === 0 ? [...loadConfig(kubeconfigIn(previousWords, table))[entries].keys()] : []
  const singleKind = singleKindCommands.find(([pattern]) => pattern.test(name))?.[1]
  if (singleKind === undefined && !/\b(?:TYPE|POD)\b/.test(usage)) return subcommands
  return withSession(previousWords, table, async (session) => {
    const [type] = rest
    if (singleKind !== undefined) return namesOf(session, singleKind)
    if (typed.includes('/')) {
      const [kind = ''] = typed.split('/')
      return (await namesOf(session, kind)).map((objectName) => `${kind}/${objectName}`)
    }
    if (usage.includes('(POD')) return type === undefined ? namesOf(session, 'pods') : []
    if (type !== undefined) return type.includes('/') ? [] : namesOf(session, type)
    const { resources } = await session.resources.all()
    return [...subcommands, ...resources.filter(({ isPreferred }) => isPreferred).map(({ resource }) => resource)]
  })
}

const kubeconfigCommands = [
  [/^config (?:\w+-context|get-contexts)$/, 'contexts'],
  [/^config (?:set|delete)-cluster$/, 'clusters'],
  [/^config (?:set-credentials|delete-user)$/, 'users'],
] as const

const singleKindCommands = [
  [/^certificate /, 'certificatesigningrequests'],
  [/^create token$/, 'serviceaccounts'],
  [/^(?:(?:un)?cordon|drain|top node)$/, 'nodes'],
  [/^top pod$/, 'pods'],
] as const

const formats = ['json', 'yaml', 'name', 'wide', 'jsonpath=', 'jsonpath-file=', 'go-template=', 'go-template-file=', 'custom-columns=']

async function valuesOf(flag: string, table: FlagTable, previousWords: readonly string[]): Promise<readonly string[]> {
  const name = flag.startsWith('--') ? flag.slice(2) : Object.entries(table).find(([, { short }]) => `-${short}` === flag)?.[0]
  switch (name) {
    case 'namespace':
      return withSession(previousWords, table, (session) => namesOf(session, 'namespaces'))
    case 'context':
      return [...loadConfig(kubeconfigIn(previousWords, table)).contexts.keys()]
    case 'cluster':
      return [...loadConfig(kubeconfigIn(previousWords, table)).clusters.keys()]
    case 'user':
      return [...loadConfig(kubeconfigIn(previousWords, table)).users.keys()]
    case 'container':
      return withSession(previousWords, table, (session) => containersIn(session, previousWords, table))
    case 'output':
      return formats
    case 'dry-run':
      return ['none', 'client', 'server']
    case 'cascade':
      return ['background', 'foreground', 'orphan']
    default:
      return []
  }
}

async function containersIn(session: Session, previousWords: readonly string[], table: FlagTable): Promise<readonly string[]> {
  const { args } = parseLine(previousWords, table)
  const pod = args[1]?.replace(/^pods?\//, '')
  if (pod === undefined || pod.includes('/')) return []
  const { spec } = await session.client.pods(session.namespace).get(pod)
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name ?? '')
}

const kubeconfigIn = (previousWords: readonly string[], table: FlagTable): { readonly file: string | undefined } => ({
  file: (parseLine(previousWords, table).flags as { readonly kubeconfig?: string }).kubeconfig,
})

async function withSession<T>(previousWords: readonly string[], table: FlagTable, use: (session: Session) => Promise<T>): Promise<T> {
  const { flags } = parseLine(previousWords, { ...table, ...globalFlags })
  const session = new Session(flags, () => undefined)
  try {
    return await use(session)
  } finally {
    session.close()
  }
}

const nextWords = (words: readonly string[]): readonly string[] => {
  const prefix = words.map((word) => `${word} `).join('')
  return Object.keys(commands).flatMap((command) =>
    command.startsWith(prefix) ? [command.slice(prefix.length).split(' ')[0] as string] : [],
  )
}

async function namesOf(session: Session, resourceName: string): Promise<readonly string[]> {
  const resource = await session.resources.find(resourceName)
  const { items } = await session.client
    .collection(resource, resource.namespaced ? session.namespace : undefined)
    .metadata.list({ limit: 200 })
  return items.map(({ metadata }) => metadata?.name ?? '')
}
