// Labels and annotations, set and taken away by words like `tier=front` and `tier-`.

import type { DynamicObject } from '../client/objects.js'
import { type Command, defineCommand } from './command.js'
import { forEach } from './each.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'
import { changeLocally, localFlags } from './local.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from './results.js'
import { fileFlags, namedOrFiled, selectFlags } from './targets.js'

export interface MapWords {
  readonly command: 'label' | 'annotate'
  readonly member: 'labels' | 'annotations'
  readonly done: string
  /** Where something was only taken away. */
  readonly undone: string
  /** Where all of it was so already. */
  readonly same: string
}

type Changes = ReadonlyMap<string, string | null>
type Entries = { readonly [key: string]: string }

export const mapCommand = ({ command, member, done, undone, same }: MapWords): Command =>
  defineCommand({
    usage: `${command} (TYPE NAME… | TYPE/NAME… | TYPE --all | -f FILE) KEY=VALUE… KEY-… [flags]`,
    about: `set and remove ${member} of objects`,
    examples: [
      `${command} configmap prices tier=front`,
      `${command} configmap prices tier-`,
      `${command} pods --all tier=back --overwrite`,
    ],
    flags: {
      ...fileFlags,
      ...selectFlags,
      ...writeFlags,
      ...localFlags,
      overwrite: { kind: 'switch', help: 'values that are there already may change' },
      all: { kind: 'switch', help: 'all of the type in the namespace' },
      list: { kind: 'switch', help: `show the ${member}` },
      'resource-version': { kind: 'text', help: 'only where the object has this version' },
    },
    run: async (work) => {
      const { flags, io } = work
      const word = member.slice(0, -1)
      const words = work.args.filter(isChange)
      const args = work.args.filter((one) => !isChange(one))
      if (words.length === 0 && !flags.list) throw new UsageError(`at least one ${word} update is required: KEY=VALUE or KEY-`)
      const changes = readChanges(words, word)
      if (flags.local)
        return changeLocally({ args, io }, flags, (object) => {
          const { next, needed } = planned(entriesOf(object))
          return { object: withEntries(object, next), what: told(needed) }
        })
      const named = await namedOrFiled(args, flags, work)
      const isOne = named.length === 1 && !flags.all && flags.selector === undefined && flags['field-selector'] === undefined
      if (flags['resource-version'] !== undefined && !isOne)
        throw new UsageError('--resource-version may only be used with a single resource')
      const results: Result[] = []
      const code = await forEach(named, io, async ({ collection, resource, name }) => {
        const live = await collection.get(name)
        const present = entriesOf(live)
        const { next, needed } = planned(present)
        // What annotations lack already is not told.
        if (member === 'labels' && !flags.list)
          for (const [key, value] of changes) if (value === null && !Object.hasOwn(present, key)) io.out(`label "${key}" not found.\n`)
        const version = flags['resource-version'] === undefined ? {} : { resourceVersion: flags['resource-version'] }
        const patch = { metadata: { [member]: Object.fromEntries(needed), ...version } }
        const draft = withEntries(live, next)
        const object: DynamicObject =
          needed.length === 0 || flags.list ? draft : await writeUnlessDry(flags, draft, (terms) => collection.patch(name, patch, terms))
        // Whoever wants to see them changes nothing.
        if (flags.list) {
          if (!isOne) io.out(`Listing ${member} for ${resource.kind}.${resource.group}/${name}:\n`)
          for (const [key, value] of Object.entries(entriesOf(object))) io.out(`${isOne ? '' : ' '}${key}=${value}\n`)
        } else results.push({ resource, name, what: told(needed), object })
      })
      if (!flags.list) tellResults(results, flags, io)
      return code

      function entriesOf(object: DynamicObject): Entries {
        // Without what objects inherit: `constructor` is a name like others.
        return Object.assign(Object.create(null) as Entries, object.metadata?.[member])
      }

      function withEntries(object: DynamicObject, entries: Entries): DynamicObject {
        return { ...object, metadata: { ...object.metadata, [member]: entries } }
      }

      /** What becomes of the entries, and which of the changes it takes. */
      function planned(present: Entries): { readonly next: Entries; readonly needed: readonly (readonly [string, string | null])[] } {
        const taken = [...changes].filter(([key, value]) => value !== null && present[key] !== undefined && present[key] !== value)
        if (taken.length > 0 && !flags.overwrite)
          throw new Failure(taken.map(([key]) => `'${key}' already has a value (${present[key]}), and --overwrite is false`).join('; '))
        const kept = [
          ...Object.entries(present).filter(([key]) => !changes.has(key)),
          ...[...changes].flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
        ]
        return { next: Object.fromEntries(kept), needed: [...changes].filter(([key, value]) => (value ?? undefined) !== present[key]) }
      }

      function told(needed: readonly (readonly [string, string | null])[]): string {
        return needed.length === 0 ? same : needed.every(([, value]) => value === null) ? undone : done
      }
    },
  })

const isChange = (word: string): boolean => /^[^=]+=/.test(word) || (word.endsWith('-') && word.length > 1)

function readChanges(words: readonly string[], what: string): Changes {
  const read = words.map((word): readonly [string, string | null] => {
    const equals = word.indexOf('=')
    return equals < 0 ? [word.slice(0, -1), null] : [word.slice(0, equals), word.slice(equals + 1)]
  })
  const both = read.find(([key, value]) => value === null && read.some(([other, set]) => other === key && set !== null))
  if (both !== undefined) throw new UsageError(`can not both modify and remove the following ${what}(s) in the same command: ${both[0]}`)
  return new Map(read)
}
