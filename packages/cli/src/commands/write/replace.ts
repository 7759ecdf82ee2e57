// `replace`: replaces objects by those in files; --force deletes and recreates them.

import { defineCommand } from '../../command-line/command.js'
import { forEach } from '../../command-line/errors.js'
import { durationMs, UsageError } from '../../command-line/flags.js'
import { deleteAndWait, deletionFlags, readDeletionFlags } from '../../objects/delete-object.js'
import { saveConfigFlag, withLastApplied } from '../../objects/last-applied-configuration.js'
import { fileFlags, readManifestObjects } from '../../objects/object-arguments.js'
import { rawFlags, sendRaw } from '../../objects/raw-request.js'
import {
  parseDryRun,
  parseValidation,
  printResults,
  type Result,
  validationFlag,
  writeFlags,
  writeUnlessDryRun,
} from '../../objects/write-results.js'

export const command = defineCommand({
  usage: 'replace -f FILE [flags]',
  flags: {
    ...fileFlags,
    ...writeFlags,
    ...rawFlags,
    ...deletionFlags,
    force: { kind: 'switch', help: 'delete and recreate the objects' },
    wait: { kind: 'switch', help: 'accepted for compatibility; --force always waits' },
    'save-config': saveConfigFlag,
    validate: validationFlag,
    subresource: { kind: 'text', help: 'subresource: status or scale' },
  },
  takesNoArguments: true,
  run: async (context) => {
    const { flags, io } = context
    if (flags.raw !== undefined) return sendRaw(context, { method: 'PUT', path: flags.raw, files: flags.filename })
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if ((flags['grace-period'] ?? -1) >= 0 && !flags.force) throw new UsageError('--grace-period must have --force specified')
    if (durationMs('timeout', flags.timeout ?? '0') !== 0 && !flags.force) throw new UsageError('--timeout must have --force specified')
    const deletion = readDeletionFlags({ ...flags, force: flags.force && flags['grace-period'] === 0 })
    const dryRun = parseDryRun(flags['dry-run'])
    const fieldValidation = parseValidation(flags.validate)
    const results: Result[] = []
    const code = await forEach(
      await readManifestObjects(flags, context),
      io,
      async (target) => {
        const { resource, collection, name } = target
        const object = await withLastApplied(target.object, flags['save-config'], context.session)
        const endpoint = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
        if (flags.force && dryRun === 'none') await deleteAndWait(target, deletion, context)
        const replaced = await writeUnlessDryRun(flags, object, (options) =>
          flags.force
            ? collection.create(object, { ...options, fieldValidation })
            : endpoint.update(object, { ...options, fieldValidation }),
        )
        results.push({ resource, name, operation: 'replaced', object: replaced })
      },
      'replacing',
    )
    printResults(results, flags, io)
    return code
  },
})
