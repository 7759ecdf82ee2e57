// Makes objects what files say, on the server's side: each field has an owner, and who would take one from another is told so.

import { isForbidden, StatusError } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import { applyObject } from '../apply-object.js'
import { defineCommand } from '../command.js'
import { waitUntilServed } from '../definitions.js'
import { deletionFlags, deletionOf } from '../deletion.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { makeRoom } from '../recreating.js'
import { dryRunOf, type Result, tellResults, validationFlag, validationOf, writeFlags } from '../results.js'
import { fileFlags, readFiled } from '../targets.js'

/** What was there before, where nobody tells us. */
const unknown: DynamicObject = {}

export const command = defineCommand({
  usage: 'apply -f FILE [flags]',
  about: 'make objects what files say',
  examples: [
    'apply -f shop/',
    'apply -f - --dry-run=server -o yaml',
    'apply -f shop/ --prune -l app=shop',
    'apply -f prices.yaml --force-conflicts',
  ],
  flags: {
    ...fileFlags,
    ...writeFlags,
    ...deletionFlags,
    force: { kind: 'switch', help: 'delete and create anew what cannot be changed' },
    wait: { kind: 'switch', help: 'until what is pruned is gone' },
    overwrite: { kind: 'switch', initial: 'true', help: 'it always is: what the files say counts' },
    'openapi-patch': { kind: 'switch', initial: 'true', help: 'it always is: the server knows the kinds' },
    'server-side': { kind: 'switch', help: 'it always is; given, it is told so' },
    'force-conflicts': { kind: 'switch', help: 'take over fields that others own' },
    validate: validationFlag,
    prune: { kind: 'switch', help: 'delete what was applied before under the same selector and is in no file any more' },
    selector: { kind: 'text', short: 'l', help: 'only what has these labels in the files; with --prune: and only such may be deleted' },
    all: { kind: 'switch', help: 'with --prune: everything that was applied before may be deleted' },
    'prune-allowlist': { kind: 'texts', help: 'with --prune: further kinds, as group/version/Kind' },
  },
  takesNoWords: true,
  run: async (work) => {
    const { flags, io } = work
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if (flags.prune && flags.selector === undefined && !flags.all)
      throw new UsageError('all resources selected for prune without explicitly passing --all; -l says which')
    if (flags.all && flags.selector !== undefined) throw new UsageError('cannot set --all and --selector at the same time')
    if (flags.force && flags['server-side']) throw new UsageError('--force cannot be used with --server-side')
    const dryRun = dryRunOf(flags['dry-run'])
    if (flags.force && dryRun === 'server') throw new UsageError('--dry-run=server cannot be used with --force')
    const deletion = deletionOf({ ...flags, force: flags.force && flags['grace-period'] === 0 })
    const filed = await readFiled(flags, work)
    if (filed.length === 0) throw new Failure('no objects passed to apply')
    const manager = flags['field-manager'] ?? 'clusterctl'
    const options = {
      fieldManager: manager,
      force: flags['force-conflicts'],
      dryRun: dryRun === 'server',
      fieldValidation: validationOf(flags.validate),
    }
    const results: Result[] = []
    const code = await forEach(
      filed,
      io,
      async (one) => {
        // Only to say what was done: whoever may not read may apply all the same.
        const before = flags['server-side']
          ? unknown
          : await one.collection.find(one.name).catch((thrown: unknown) => {
              if (isForbidden(thrown)) return unknown
              throw thrown
            })
        const object =
          dryRun === 'client'
            ? one.object
            : await applyObject(one, options).catch(async (thrown: unknown) => {
                if (!flags.force || !(thrown instanceof StatusError) || thrown.code !== 422) throw thrown
                await makeRoom(one, deletion, work)
                return applyObject(one, options)
              })
        const what =
          before === unknown
            ? 'serverside-applied'
            : before === undefined
              ? 'created'
              : before.metadata?.resourceVersion === object.metadata?.resourceVersion || dryRun === 'client'
                ? 'unchanged'
                : 'configured'
        results.push({
          resource: one.resource,
          name: one.name,
          what: dryRun === 'client' && before !== undefined && before !== unknown ? 'configured' : what,
          object,
        })
        if (dryRun === 'none') await waitUntilServed(one, work)
      },
      'applying',
    )
    tellResults(results, flags, io)
    if (flags.prune && code === 0) {
      const { prune } = await import('../prune.js')
      await prune({ filed, manager, selector: flags.selector, allowed: flags['prune-allowlist'], dryRun, deletion, wait: flags.wait }, work)
    }
    return code
  },
})
