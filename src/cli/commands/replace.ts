// Puts what files say in the place of what is there.

import { defineCommand } from '../command.js'
import { deletionFlags, deletionOf } from '../deletion.js'
import { forEach } from '../each.js'
import { durationMs, UsageError } from '../flags.js'
import { askRaw, rawFlags } from '../raw-request.js'
import { makeRoom } from '../recreating.js'
import { dryRunOf, type Result, tellResults, validationFlag, validationOf, writeFlags, writeUnlessDry } from '../results.js'
import { saveConfigFlag, withSavedConfig } from '../saved-config.js'
import { fileFlags, readFiled } from '../targets.js'

export const command = defineCommand({
  usage: 'replace -f FILE [flags]',
  about: 'put what files say in the place of what is there',
  flags: {
    ...fileFlags,
    ...writeFlags,
    ...rawFlags,
    ...deletionFlags,
    force: { kind: 'switch', help: 'delete what is there, and create it anew' },
    wait: { kind: 'switch', help: 'with --force it always does' },
    'save-config': saveConfigFlag,
    validate: validationFlag,
    subresource: { kind: 'text', help: 'of a part of the object: status or scale' },
  },
  takesNoWords: true,
  run: async (work) => {
    const { flags, io } = work
    if (flags.raw !== undefined) return askRaw(work, { method: 'PUT', path: flags.raw, files: flags.filename })
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if ((flags['grace-period'] ?? -1) >= 0 && !flags.force) throw new UsageError('--grace-period must have --force specified')
    if (durationMs('timeout', flags.timeout ?? '0') !== 0 && !flags.force) throw new UsageError('--timeout must have --force specified')
    const deletion = deletionOf({ ...flags, force: flags.force && flags['grace-period'] === 0 })
    const dryRun = dryRunOf(flags['dry-run'])
    const fieldValidation = validationOf(flags.validate)
    const results: Result[] = []
    const code = await forEach(
      await readFiled(flags, work),
      io,
      async (one) => {
        const { resource, collection, name } = one
        const object = await withSavedConfig(one.object, flags['save-config'], work.session)
        const part = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
        if (flags.force && dryRun === 'none') await makeRoom(one, deletion, work)
        const made = await writeUnlessDry(flags, object, (terms) =>
          flags.force ? collection.create(object, { ...terms, fieldValidation }) : part.update(object, { ...terms, fieldValidation }),
        )
        results.push({ resource, name, what: 'replaced', object: made })
      },
      'replacing',
    )
    tellResults(results, flags, io)
    return code
  },
})
