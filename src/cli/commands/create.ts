// Creates what files say.

import { defineCommand } from '../command.js'
import { waitUntilServed } from '../definitions.js'
import { forEach } from '../each.js'
import { UsageError } from '../flags.js'
import { askRaw, rawFlags } from '../raw-request.js'
import { dryRunOf, editFlags, type Result, tellResults, validationFlag, validationOf, writeFlags, writeUnlessDry } from '../results.js'
import { saveConfigFlag, withSavedConfig } from '../saved-config.js'
import { fileFlags, readFiled, selectFlags } from '../targets.js'

export const command = defineCommand({
  usage: 'create -f FILE [flags]',
  about: 'create what files say; "create --help" of a kind for single objects',
  examples: ['create -f shop.yaml', 'create namespace shop', 'create configmap prices --from-literal=apple=3', 'create token robot'],
  flags: {
    ...fileFlags,
    selector: selectFlags.selector,
    ...writeFlags,
    ...rawFlags,
    'save-config': saveConfigFlag,
    validate: validationFlag,
    ...editFlags,
    edit: { kind: 'switch', help: 'in an editor first, one after the other' },
  },
  takesNoWords: true,
  run: async (work) => {
    const { flags, io } = work
    if (flags.raw !== undefined) return askRaw(work, { method: 'POST', path: flags.raw, files: flags.filename })
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if (flags.edit) return (await import('../create-edited.js')).createEdited(work, flags)
    const dryRun = dryRunOf(flags['dry-run'])
    const results: Result[] = []
    const code = await forEach(
      await readFiled(flags, work),
      io,
      async ({ resource, collection, object: filed }) => {
        const object = await withSavedConfig(filed, flags['save-config'], work.session)
        const fieldValidation = validationOf(flags.validate)
        const made = await writeUnlessDry(flags, object, (terms) => collection.create(object, { ...terms, fieldValidation }))
        results.push({ resource, name: made.metadata?.name ?? '', what: 'created', object: made })
        if (dryRun === 'none') await waitUntilServed({ resource, collection, name: made.metadata?.name ?? '' }, work)
      },
      'creating',
    )
    tellResults(results, flags, io)
    return code
  },
})
