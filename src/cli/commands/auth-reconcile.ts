// Makes roles allow at least what files say, and bindings bind at least to whom files say.

import { isNotFound } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { inOrder } from '../output/documents.js'
import { dryRunOf, type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
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
      const member = isBinding ? 'subjects' : 'rules'
      const live = await collection.find(name).catch((thrown: unknown) => {
        if (isNotFound(thrown)) return undefined
        throw thrown
      })
      if (live === undefined) {
        const made = await writeUnlessDry(flags, object, (terms) => collection.create(object, terms))
        results.push({ resource, name, what: 'reconciled: it was missing', object: made })
        return
      }
      if (isBinding && !isSame(live['roleRef'], object['roleRef'])) {
        if (dryRun === 'none') await collection.delete(name)
        // What is not deleted cannot be made anew on trial either.
        const made = dryRun === 'none' ? await writeUnlessDry(flags, object, (terms) => collection.create(object, terms)) : object
        results.push({ resource, name, what: 'reconciled: it bound another role, and was made anew', object: made })
        return
      }
      const [wanted, present] = [listOf(object, member), listOf(live, member)]
      const missing = wanted.filter((one) => !present.some((other) => isSame(one, other)))
      const removes = isBinding ? flags['remove-extra-subjects'] : flags['remove-extra-permissions']
      const extra = removes ? present.filter((one) => !wanted.some((other) => isSame(one, other))) : []
      if (missing.length === 0 && extra.length === 0) {
        results.push({ resource, name, what: 'unchanged', object: live })
        return
      }
      const next = { ...live, [member]: [...present.filter((one) => !extra.includes(one)), ...missing] }
      const made = await writeUnlessDry(flags, next, (terms) => collection.update(next, terms))
      results.push({ resource, name, what: `reconciled: ${missing.length} added, ${extra.length} removed`, object: made })
    })
    tellResults(results, flags, io)
    return code
  },
})

const listOf = (object: DynamicObject, member: string): readonly unknown[] =>
  Array.isArray(object[member]) ? (object[member] as readonly unknown[]) : []
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b))
