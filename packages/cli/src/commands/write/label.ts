// `label` and `annotate`: set (`tier=front`) and remove (`tier-`) labels and annotations.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type Command, defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { changeLocally, localFlags } from '../../objects/local-change.js'
import { fileFlags, resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'

interface MapCommandSettings {
  readonly command: 'label' | 'annotate'
  readonly member: 'labels' | 'annotations'
  /** Results: set, only removed, unchanged. */
  readonly done: string
  readonly undone: string
  readonly same: string
}

type Changes = ReadonlyMap<string, string | null>
type Entries = { readonly [key: string]: string }

const mapCommand = ({ command, member, done, undone, same }: MapCommandSettings): Command =>
  defineCommand({
    usage: `${command} (TYPE NAME… | TYPE/NAME… | TYPE --all | -f FILE) KEY=VALUE… KEY-… [flags]`,
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
      overwrite: { kind: 'switch', help: 'allow changes of existing values' },
      all: { kind: 'switch', help: 'all objects of the type in the namespace' },
      list: { kind: 'switch', help: `show the ${member}` },
      'resource-version': { kind: 'text', help: 'required resourceVersion of the object' },
    },
    run: async (context) => {
      const { flags, io } = context
      const noun = member.slice(0, -1)
      const changeArgs = context.args.filter(isChange)
      const args = context.args.filter((arg) => !isChange(arg))
      if (changeArgs.length === 0 && !flags.list) throw new UsageError(`at least one ${noun} update is required: KEY=VALUE or KEY-`)
      const changes = readChanges(changeArgs, noun)
      if (flags.local)
        return changeLocally({ args, io }, flags, (object) => {
          const { next, needed } = planChanges(entriesOf(object))
          return { object: withEntries(object, next), operation: resultText(needed) }
        })
      const targets = await resolveObjects(args, flags, context)
      const isSingle = targets.length === 1 && !flags.all && flags.selector === undefined && flags['field-selector'] === undefined
      if (flags['resource-version'] !== undefined && !isSingle)
        throw new UsageError('--resource-version may only be used with a single resource')
      const results: Result[] = []
      const code = await forEach(targets, io, async ({ collection, resource, name }) => {
        const live = await collection.get(name)
        const present = entriesOf(live)
        const { next, needed } = planChanges(present)
        if (member === 'labels' && !flags.list)
          for (const [key, value] of changes) if (value === null && !Object.hasOwn(present, key)) io.out(`label "${key}" not found.\n`)
        const version = flags['resource-version'] === undefined ? {} : { resourceVersion: flags['resource-version'] }
        const patch = { metadata: { [member]: Object.fromEntries(needed), ...version } }
        const draft = withEntries(live, next)
        const object: DynamicObject =
          needed.length === 0 || flags.list
            ? draft
            : await writeUnlessDryRun(flags, draft, (options) => collection.patch(name, patch, options))
        if (flags.list) {
          if (!isSingle) io.out(`Listing ${member} for ${resource.kind}.${resource.group}/${name}:\n`)
          for (const [key, value] of Object.entries(entriesOf(object))) io.out(`${isSingle ? '' : ' '}${key}=${value}\n`)
        } else results.push({ resource, name, operation: resultText(needed), object })
      })
      if (!flags.list) printResults(results, flags, io)
      return code

      function entriesOf(object: DynamicObject): Entries {
        // Without prototype: `constructor` is a valid key.
        return Object.assign(Object.create(null) as Entries, object.metadata?.[member])
      }

      function withEntries(object: DynamicObject, entries: Entries): DynamicObject {
        return { ...object, metadata: { ...object.metadata, [member]: entries } }
      }

      function planChanges(present: Entries): { readonly next: Entries; readonly needed: readonly (readonly [string, string | null])[] } {
        const conflicting = [...changes].filter(([key, value]) => value !== null && present[key] !== undefined && present[key] !== value)
        if (conflicting.length > 0 && !flags.overwrite)
          throw new CommandError(
            conflicting.map(([key]) => `'${key}' already has a value (${present[key]}), and --overwrite is false`).join('; '),
          )
        const nextEntries = [
          ...Object.entries(present).filter(([key]) => !changes.has(key)),
          ...[...changes].flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
        ]
        return {
          next: Object.fromEntries(nextEntries),
          needed: [...changes].filter(([key, value]) => (value ?? undefined) !== present[key]),
        }
      }

      function resultText(needed: readonly (readonly [string, string | null])[]): string {
        return needed.length === 0 ? same : needed.every(([, value]) => value === null) ? undone : done
      }
    },
  })

const isChange = (word: string): boolean => /^[^=]+=/.test(word) || (word.endsWith('-') && word.length > 1)

function readChanges(args: readonly string[], field: string): Changes {
  const parsed = args.map((arg): readonly [string, string | null] => {
    const equals = arg.indexOf('=')
    return equals < 0 ? [arg.slice(0, -1), null] : [arg.slice(0, equals), arg.slice(equals + 1)]
  })
  const conflicting = parsed.find(([key, value]) => value === null && parsed.some(([other, set]) => other === key && set !== null))
  if (conflicting !== undefined)
    throw new UsageError(`can not both modify and remove the following ${field}(s) in the same command: ${conflicting[0]}`)
  return new Map(parsed)
}

export const label = mapCommand({ command: 'label', member: 'labels', done: 'labeled', undone: 'unlabeled', same: 'not labeled' })
export const annotate = mapCommand({
  command: 'annotate',
  member: 'annotations',
  done: 'annotated',
  undone: 'annotated',
  same: 'annotated',
})
