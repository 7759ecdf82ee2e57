// `create -f`: creates objects from files, optionally after editing.

import { type CommandContext, defineCommand } from '../../command-line/command.js'
import { forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { waitUntilEstablished } from '../../objects/crds-in-manifests.js'
import { editObject } from '../../objects/edit-object.js'
import { saveConfigFlag, withLastApplied } from '../../objects/last-applied-configuration.js'
import { type FileFlags, fileFlags, locateObject, readManifestObjects, selectFlags } from '../../objects/object-arguments.js'
import { rawFlags, sendRaw } from '../../objects/raw-request.js'
import {
  editFlags,
  parseDryRun,
  parseValidation,
  printResults,
  type Result,
  validationFlag,
  type WriteFlagValues,
  writeFlags,
  writeUnlessDryRun,
} from '../../objects/write-results.js'
import { outputOf, type PrintFlagValues } from '../../output/print-flags.js'

export const command = defineCommand({
  usage: 'create -f FILE [flags]',
  examples: ['create -f shop.yaml', 'create namespace shop', 'create configmap prices --from-literal=apple=3', 'create token robot'],
  flags: {
    ...fileFlags,
    selector: selectFlags.selector,
    ...writeFlags,
    ...rawFlags,
    'save-config': saveConfigFlag,
    validate: validationFlag,
    ...editFlags,
    edit: { kind: 'switch', help: 'edit each object before it is created' },
  },
  takesNoArguments: true,
  run: async (context) => {
    const { flags, io } = context
    if (flags.raw !== undefined) return sendRaw(context, { method: 'POST', path: flags.raw, files: flags.filename })
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if (flags.edit) return createEdited(context, flags)
    const dryRun = parseDryRun(flags['dry-run'])
    const results: Result[] = []
    const code = await forEach(
      await readManifestObjects(flags, context),
      io,
      async ({ resource, collection, object: manifest }) => {
        const object = await withLastApplied(manifest, flags['save-config'], context.session)
        const fieldValidation = parseValidation(flags.validate)
        const created = await writeUnlessDryRun(flags, object, (options) => collection.create(object, { ...options, fieldValidation }))
        results.push({ resource, name: created.metadata?.name ?? '', operation: 'created', object: created })
        if (dryRun === 'none') await waitUntilEstablished({ resource, collection, name: created.metadata?.name ?? '' }, context)
      },
      'creating',
    )
    printResults(results, flags, io)
    return code
  },
})

interface CreateEditedFlags extends FileFlags, WriteFlagValues, PrintFlagValues {
  readonly validate: string | undefined
  readonly 'windows-line-endings': boolean
  readonly 'save-config': boolean
}

async function createEdited(context: Pick<CommandContext, 'session' | 'io' | 'signal'>, flags: CreateEditedFlags): Promise<number> {
  const { session, io } = context
  const fieldValidation = parseValidation(flags.validate)
  return forEach(
    await readManifestObjects(flags, context),
    io,
    ({ object: draft }) =>
      editObject({
        io,
        object: draft,
        format: outputOf(flags),
        withCarriageReturns: flags['windows-line-endings'],
        send: async (edited) => {
          const { resource, collection, object: manifest } = await locateObject(edited, session)
          const object = await withLastApplied(manifest, flags['save-config'], session)
          const created = await writeUnlessDryRun(flags, object, (options) => collection.create(object, { ...options, fieldValidation }))
          const name = created.metadata?.name ?? ''
          printResults([{ resource, name, operation: 'created', object: created }], { 'dry-run': flags['dry-run'], output: undefined }, io)
          if (parseDryRun(flags['dry-run']) === 'none') await waitUntilEstablished({ resource, collection, name }, context)
        },
      }),
    'creating',
  )
}
