// What could come next on a command line: commands, flags, kinds, names of objects.

import { sortTexts } from '../base/text-order.js'
import { commands } from './command-table.js'
import { parseLine } from './flags.js'
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
  // Words of a group, and of one that stands behind a command: `create secret`.
  if (name === undefined || (next.length > 0 && name.split(' ').length < plain.length)) return next
  const command = await commands[name]?.load()
  if (command === undefined) return []
  const table = { ...usualFlags, ...command.flags }
  if (typed.startsWith('-')) return Object.keys(table).map((flag) => `--${flag}`)
  const subcommands = nextWords(name.split(' '))
  if (!/\b(?:TYPE|POD)\b/.test(command.usage)) return subcommands
  // The value of a flag is being typed: which flag it is does not change what the others say.
  const flag = before.at(-1) ?? ''
  const isValue = takesNext(flag, table)
  if (isValue && flag !== '-n' && flag !== '--namespace') return []
  const { flags, args } = parseLine(isValue ? before.slice(0, -1) : before, table)
  const rest = args.slice(name.split(' ').length)
  const session = new Session(flags, () => undefined)
  try {
    if (isValue) return await namesOf(session, 'namespaces')
    const [type] = rest
    if (command.usage.includes('(POD')) return await namesOf(session, 'pods')
    if (type !== undefined) return await namesOf(session, type)
    if (typed.includes('/')) return (await namesOf(session, typed.split('/')[0] as string)).map((one) => `${typed.split('/')[0]}/${one}`)
    const { resources } = await session.resources.all()
    return [...subcommands, ...resources.filter(({ isPreferred }) => isPreferred).map(({ resource }) => resource)]
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
