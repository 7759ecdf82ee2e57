// Labels and annotations, set and taken away by words like `tier=front` and `tier-`.

import type { DynamicObject } from '../client/objects.js'
import { type Command, defineCommand } from './command.js'
import { forEach } from './each.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from './results.js'
import { fileFlags, namedOrFiled, selectFlags } from './targets.js'

export interface MapWords {
  readonly command: 'label' | 'annotate'
  readonly member: 'labels' | 'annotations'
  readonly done: string
  readonly undone: string
}

export const mapCommand = ({ command, member, done, undone }: MapWords): Command =>
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
      overwrite: { kind: 'switch', help: 'values that are there already may change' },
      all: { kind: 'switch', help: 'all of the type in the namespace' },
      list: { kind: 'switch', help: `show the ${member}` },
      'resource-version': { kind: 'text', help: 'only where the object has this version' },
    },
    run: async (work) => {
      const { flags, io } = work
      const words = work.args.filter(isChange)
      const args = work.args.filter((word) => !isChange(word))
      if (words.length === 0 && !flags.list)
        throw new UsageError(`at least one ${member.slice(0, -1)} update is required: KEY=VALUE or KEY-`)
      const read = words.map(readChange)
      const changes = new Map(read)
      const both = read.find(([key, value]) => value === null && read.some(([other, set]) => other === key && set !== null))
      if (both !== undefined)
        throw new UsageError(`can not both modify and remove the following ${member.slice(0, -1)}(s) in the same command: ${both[0]}`)
      const results: Result[] = []
      const code = await forEach(await namedOrFiled(args, flags, work), io, async ({ collection, resource, name }) => {
        const live = await collection.get(name)
        // Without what objects inherit: `constructor` is a name like others.
        const present = Object.assign(Object.create(null) as Record<string, string>, live.metadata?.[member])
        if (flags.list) {
          for (const [key, value] of Object.entries(present)) io.out(`${key}=${value}\n`)
          return
        }
        const taken = [...changes].filter(([key, value]) => value !== null && present[key] !== undefined && present[key] !== value)
        if (taken.length > 0 && !flags.overwrite)
          throw new Failure(taken.map(([key]) => `'${key}' already has a value (${present[key]}), and --overwrite is false`).join('; '))
        for (const [key, value] of changes)
          if (value === null && present[key] === undefined) io.out(`${member.slice(0, -1)} "${key}" not found.\n`)
        const needed = [...changes].filter(([key, value]) => (value ?? undefined) !== present[key])
        const version = flags['resource-version'] === undefined ? {} : { resourceVersion: flags['resource-version'] }
        const patch = { metadata: { [member]: Object.fromEntries(needed), ...version } }
        const kept = [
          ...Object.entries(present).filter(([key]) => !changes.has(key)),
          ...[...changes].filter(([, value]) => value !== null),
        ]
        const draft = { ...live, metadata: { ...live.metadata, [member]: Object.fromEntries(kept) } }
        const object: DynamicObject =
          needed.length === 0 ? live : await writeUnlessDry(flags, draft, (terms) => collection.patch(name, patch, terms))
        const what = needed.length === 0 ? `not ${done}` : needed.every(([, value]) => value === null) ? undone : done
        results.push({ resource, name, what, object })
      })
      if (!flags.list) tellResults(results, flags, io)
      return code
    },
  })

const isChange = (word: string): boolean => /^[^=]+=/.test(word) || (word.endsWith('-') && word.length > 1)

function readChange(word: string): readonly [string, string | null] {
  const equals = word.indexOf('=')
  return equals < 0 ? [word.slice(0, -1), null] : [word.slice(0, equals), word.slice(equals + 1)]
}
