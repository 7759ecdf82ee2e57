// Puts what files say in the place of what is there.

import { isNotFound } from '../../client/errors.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { UsageError } from '../flags.js'
import { askRaw, rawFlags } from '../raw-request.js'
import { dryRunOf, type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { fileFlags, readFiled } from '../targets.js'
import { isRefused, waitUntilGone } from '../until.js'
import { validationOf } from './apply.js'

export const command = defineCommand({
  usage: 'replace -f FILE [flags]',
  about: 'put what files say in the place of what is there',
  flags: {
    ...fileFlags,
    ...writeFlags,
    ...rawFlags,
    force: { kind: 'switch', help: 'delete what is there, and create it anew' },
    validate: { kind: 'text', bare: 'true', initial: 'true', help: 'true or strict: unknown fields are refused; warn; false or ignore' },
    subresource: { kind: 'text', help: 'of a part of the object: status or scale' },
  },
  takesNoWords: true,
  run: async (work) => {
    const { flags, io, signal } = work
    if (flags.raw !== undefined) return askRaw(work, { method: 'PUT', path: flags.raw, files: flags.filename })
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    const dryRun = dryRunOf(flags['dry-run'])
    const fieldValidation = validationOf(flags.validate)
    const results: Result[] = []
    const code = await forEach(
      await readFiled(flags, work),
      io,
      async (one) => {
        const { resource, collection, name, object } = one
        const part = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
        if (flags.force && dryRun === 'none') {
          const live = await collection.find(name)
          await collection.delete(name).catch((thrown: unknown) => {
            if (!isNotFound(thrown)) throw thrown
          })
          await waitUntilGone(one, { uid: live?.metadata?.uid ?? '', deadline: undefined, signal, io }).catch((thrown: unknown) => {
            // What is deleted must be made anew, even where it cannot be seen to be gone.
            if (!isRefused(thrown)) throw thrown
          })
        }
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
