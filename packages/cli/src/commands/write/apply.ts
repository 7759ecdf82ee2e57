// `apply`: server-side apply of files; --prune deletes objects that were applied before and are in no file anymore.

import { isForbidden, StatusError } from '@cluster-apiserver/client/errors.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { applyObject } from '../../objects/apply-object.js'
import { waitUntilEstablished } from '../../objects/crds-in-manifests.js'
import { deleteAndWait, deletionFlags, readDeletionFlags } from '../../objects/delete-object.js'
import { fileFlags, readManifestObjects } from '../../objects/object-arguments.js'
import { parseDryRun, parseValidation, printResults, type Result, validationFlag, writeFlags } from '../../objects/write-results.js'

/** Placeholder for a live object that was not read. */
const notRead: DynamicObject = {}

export const command = defineCommand({
  usage: 'apply -f FILE [flags]',
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
    force: { kind: 'switch', help: 'delete and recreate objects that cannot be updated' },
    wait: { kind: 'switch', help: 'wait until pruned objects are deleted' },
    overwrite: { kind: 'switch', initial: 'true', help: 'accepted for compatibility; always on' },
    'openapi-patch': { kind: 'switch', initial: 'true', help: 'accepted for compatibility; always on' },
    'server-side': { kind: 'switch', help: 'always on; with this flag results are "serverside-applied"' },
    'force-conflicts': { kind: 'switch', help: 'take over fields of other managers' },
    validate: validationFlag,
    prune: { kind: 'switch', help: 'delete objects that were applied before and are in no file anymore' },
    selector: { kind: 'text', short: 'l', help: 'only objects with these labels; also limits --prune' },
    all: { kind: 'switch', help: 'with --prune: consider all objects that were applied before' },
    'prune-allowlist': { kind: 'texts', help: 'with --prune: more kinds, as group/version/Kind' },
  },
  takesNoArguments: true,
  run: async (context) => {
    const { flags, io } = context
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if (flags.prune && flags.selector === undefined && !flags.all)
      throw new UsageError('all resources selected for prune without explicitly passing --all; use -l to select')
    if (flags.all && flags.selector !== undefined) throw new UsageError('cannot set --all and --selector at the same time')
    if (flags.force && flags['server-side']) throw new UsageError('--force cannot be used with --server-side')
    const dryRun = parseDryRun(flags['dry-run'])
    if (flags.force && dryRun === 'server') throw new UsageError('--dry-run=server cannot be used with --force')
    const deletion = readDeletionFlags({ ...flags, force: flags.force && flags['grace-period'] === 0 })
    const objects = await readManifestObjects(flags, context)
    if (objects.length === 0) throw new CommandError('no objects passed to apply')
    const manager = flags['field-manager'] ?? 'clusterctl'
    const options = {
      fieldManager: manager,
      force: flags['force-conflicts'],
      dryRun: dryRun === 'server',
      fieldValidation: parseValidation(flags.validate),
    }
    const results: Result[] = []
    const code = await forEach(
      objects,
      io,
      async (target) => {
        // Read only to print created, configured or unchanged; apply does not require permission to get.
        const existing = flags['server-side']
          ? notRead
          : await target.collection.find(target.name).catch((thrown: unknown) => {
              if (isForbidden(thrown)) return notRead
              throw thrown
            })
        const object =
          dryRun === 'client'
            ? target.object
            : await applyObject(target, options).catch(async (thrown: unknown) => {
                if (!flags.force || !(thrown instanceof StatusError) || thrown.code !== 422) throw thrown
                await deleteAndWait(target, deletion, context)
                return applyObject(target, options)
              })
        const operation =
          existing === notRead
            ? 'serverside-applied'
            : existing === undefined
              ? 'created'
              : existing.metadata?.resourceVersion === object.metadata?.resourceVersion || dryRun === 'client'
                ? 'unchanged'
                : 'configured'
        results.push({
          resource: target.resource,
          name: target.name,
          operation: dryRun === 'client' && existing !== undefined && existing !== notRead ? 'configured' : operation,
          object,
        })
        if (dryRun === 'none') await waitUntilEstablished(target, context)
      },
      'applying',
    )
    printResults(results, flags, io)
    if (flags.prune && code === 0) {
      const { prune } = await import('../../objects/prune.js')
      await prune(
        { objects, manager, selector: flags.selector, allowed: flags['prune-allowlist'], dryRun, deletion, wait: flags.wait },
        context,
      )
    }
    return code
  },
})
