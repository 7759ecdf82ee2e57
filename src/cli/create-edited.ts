// Creates what files say once it was changed in an editor; what was not changed is not created.

import type { Work } from './command.js'
import { waitUntilServed } from './definitions.js'
import { forEach } from './each.js'
import { editObject } from './editing.js'
import { outputOf, type PrintFlagValues } from './output/print-flags.js'
import { dryRunOf, tellResults, validationOf, type WriteFlagValues, writeUnlessDry } from './results.js'
import { withSavedConfig } from './saved-config.js'
import { type FileFlags, fileObject, readFiled } from './targets.js'

export interface CreateEditedFlags extends FileFlags, WriteFlagValues, PrintFlagValues {
  readonly validate: string | undefined
  readonly 'windows-line-endings': boolean
  readonly 'save-config': boolean
}

/** Gives the exit code. */
export async function createEdited(work: Pick<Work, 'session' | 'io' | 'signal'>, flags: CreateEditedFlags): Promise<number> {
  const { session, io } = work
  const fieldValidation = validationOf(flags.validate)
  return forEach(
    await readFiled(flags, work),
    io,
    ({ object: draft }) =>
      editObject({
        io,
        object: draft,
        form: outputOf(flags),
        withCarriageReturns: flags['windows-line-endings'],
        send: async (edited) => {
          // It may be of another kind or for another namespace by now.
          const { resource, collection, object: filed } = await fileObject(edited, session)
          const object = await withSavedConfig(filed, flags['save-config'], session)
          const made = await writeUnlessDry(flags, object, (terms) => collection.create(object, { ...terms, fieldValidation }))
          const name = made.metadata?.name ?? ''
          tellResults([{ resource, name, what: 'created', object: made }], { 'dry-run': flags['dry-run'], output: undefined }, io)
          if (dryRunOf(flags['dry-run']) === 'none') await waitUntilServed({ resource, collection, name }, work)
        },
      }),
    'creating',
  )
}
