// Makes roles allow at least what files say, and bindings bind at least to whom files say.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { inOrder } from '../output/documents.js'
import { dryRunOf, type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { uncovered } from '../role-coverage.js'
import type { AccessRule } from '../rule-rows.js'
import { fileFlags, readFiled } from '../targets.js'

export const command = defineCommand({
  usage: 'auth reconcile -f FILE [flags]',
  about: 'make roles and bindings give at least what files say',
  flags: {
    ...fileFlags,
    ...writeFlags,
    'remove-extra-permissions': { kind: 'switch', help: 'and not more than that' },
    'remove-extra-subjects': { kind: 'switch', help: 'and to nobody else' },
  },
  takesNoWords: true,
  run: async (work) => {
    const { flags, io } = work
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    const dryRun = dryRunOf(flags['dry-run'])
    const results: Result[] = []
    const code = await forEach(await readFiled(flags, work), io, async ({ resource, collection, name, object }) => {
      const isBinding = /RoleBinding$/.test(resource.kind)
      if (!isBinding && !/Role$/.test(resource.kind)) throw new Failure(`${resource.kind} "${name}" is neither a role nor a binding`)
      const live = await collection.find(name)
      if (live === undefined) {
        const made = await writeUnlessDry(flags, object, (terms) => collection.create(object, terms))
        results.push({ resource, name, what: 'reconciled: it was missing', object: made })
        return
      }
      const protection = Object.entries(live.metadata?.annotations ?? {}).find(([key]) => key.endsWith('/autoupdate'))?.[1]
      if (isBinding && !isSame(live['roleRef'], object['roleRef'])) {
        if (protection === 'false') {
          results.push({ resource, name, what: 'skipped: it binds another role, and is protected', object: live })
          return
        }
        if (dryRun === 'none') await collection.delete(name)
        // What is not deleted cannot be made anew on trial either.
        const made = dryRun === 'none' ? await writeUnlessDry(flags, object, (terms) => collection.create(object, terms)) : object
        results.push({ resource, name, what: 'reconciled: it bound another role, and was made anew', object: made })
        return
      }
      const changes = isBinding ? subjectChanges(live, object, flags) : roleChanges(live, object, flags)
      const metadata = { ...live.metadata, ...withMore(live, object, 'labels'), ...withMore(live, object, 'annotations') }
      const next = { ...live, metadata, ...changes.members }
      if (isSame(next, live)) {
        results.push({ resource, name, what: 'unchanged', object: live })
        return
      }
      if (protection === 'false') {
        results.push({ resource, name, what: 'skipped: it is protected', object: live })
        return
      }
      const made = await writeUnlessDry(flags, next, (terms) => collection.update(next, terms))
      results.push({ resource, name, what: `reconciled: ${changes.added} added, ${changes.removed} removed`, object: made })
    })
    tellResults(results, flags, io)
    return code
  },
})

interface Changes {
  readonly members: object
  readonly added: number
  readonly removed: number
}

/** The entries that are missing are added, and where that is asked for all others go. */
function listChanges(
  present: readonly unknown[],
  wanted: readonly unknown[],
  removes: boolean,
): Changes & { readonly next: readonly unknown[] } {
  const missing = wanted.filter((one) => !present.some((other) => isSame(one, other)))
  const extra = removes ? present.filter((one) => !wanted.some((other) => isSame(one, other))) : []
  const next = [...present.filter((one) => !extra.includes(one)), ...missing]
  return { members: {}, next, added: missing.length, removed: extra.length }
}

function subjectChanges(live: DynamicObject, object: DynamicObject, flags: { readonly 'remove-extra-subjects': boolean }): Changes {
  const changes = listChanges(listOf(live, 'subjects'), listOf(object, 'subjects'), flags['remove-extra-subjects'])
  return { ...changes, members: { subjects: changes.next } }
}

/** Rules of a role that is made of others are written by the server: what counts is of which ones it is made. */
function roleChanges(live: DynamicObject, object: DynamicObject, flags: { readonly 'remove-extra-permissions': boolean }): Changes {
  const removes = flags['remove-extra-permissions']
  const selectors = selectorsOf(object)
  if (selectors !== undefined) {
    const changes = listChanges(selectorsOf(live) ?? [], selectors, removes)
    return { ...changes, members: { aggregationRule: { clusterRoleSelectors: changes.next } } }
  }
  const [present, wanted] = [listOf(live, 'rules') as readonly AccessRule[], listOf(object, 'rules') as readonly AccessRule[]]
  const missing = uncovered(present, wanted)
  const extra = removes ? uncovered(wanted, present) : []
  if (missing.length === 0 && extra.length === 0) return { members: {}, added: 0, removed: 0 }
  return { members: { rules: removes ? wanted : [...present, ...missing] }, added: missing.length, removed: extra.length }
}

const selectorsOf = (object: DynamicObject): readonly unknown[] | undefined =>
  (object['aggregationRule'] as { readonly clusterRoleSelectors?: readonly unknown[] } | undefined)?.clusterRoleSelectors

function withMore(live: DynamicObject, object: DynamicObject, member: 'labels' | 'annotations'): object {
  const more = object.metadata?.[member]
  return more === undefined ? {} : { [member]: { ...live.metadata?.[member], ...more } }
}

const listOf = (object: DynamicObject, member: string): readonly unknown[] =>
  Array.isArray(object[member]) ? (object[member] as readonly unknown[]) : []
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b))
