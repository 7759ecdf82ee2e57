// `edit`: opens objects in an editor and sends the changes as a merge patch.

import { createMergePatch } from '@cluster-apiserver/api/base/create-merge-patch.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { editObject } from '../../objects/edit-object.js'
import { saveConfigFlag, withLastApplied } from '../../objects/last-applied-configuration.js'
import { fullNameOf, type NamedObject } from '../../objects/named-object.js'
import { fileFlags, readManifestObjects, rejectArgumentsWithFiles, resolveArguments } from '../../objects/object-arguments.js'
import { editFlags, parseValidation, validationFlag } from '../../objects/write-results.js'
import { goJson, withoutManagedFields } from '../../output/documents.js'
import { outputOf, printFlags } from '../../output/print-flags.js'

export const command = defineCommand({
  usage: 'edit (TYPE NAME… | TYPE/NAME… | -f FILE) [flags]',
  examples: ['edit configmap prices', 'edit deployment/shop -o json', 'edit -f shop.yaml'],
  flags: {
    ...fileFlags,
    ...printFlags,
    ...editFlags,
    output: { ...printFlags.output, help: 'format in the editor: yaml or json' },
    'output-patch': { kind: 'switch', help: 'print the patch' },
    'save-config': saveConfigFlag,
    subresource: { kind: 'text', help: 'subresource, such as status' },
    'field-manager': { kind: 'text', initial: 'clusterctl', help: 'field manager of the written fields' },
    validate: validationFlag,
  },
  run: async (context) => {
    const { args, flags, io, session } = context
    rejectArgumentsWithFiles(args, flags)
    const fieldValidation = parseValidation(flags.validate)
    const targets =
      flags.filename.length > 0 ? await readManifestObjects(flags, context) : (await resolveArguments(args, { session })).named
    if (targets.length === 0) throw new UsageError('an object is required, as TYPE NAME or TYPE/NAME')
    for (const target of targets) await editOne(target)
    return 0

    async function editOne({ collection, name, resource }: NamedObject): Promise<void> {
      const endpoint = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
      const found = await endpoint.get(name)
      const live = flags['show-managed-fields'] ? found : withoutManagedFields(found)
      await editObject({
        io,
        object: live,
        format: outputOf(flags),
        withCarriageReturns: flags['windows-line-endings'],
        send: async (edited) => {
          const { apiVersion, kind, metadata } = edited
          if (apiVersion !== live.apiVersion || kind !== live.kind || metadata?.name !== name)
            throw new CommandError('at least one of apiVersion, kind and name was changed')
          // A merge patch preserves concurrent changes of other fields.
          const saved = flags['save-config'] ? await withLastApplied(edited, true, session) : edited
          const patch = createMergePatch(live, saved)
          if (patch === undefined) {
            io.err('Edit cancelled, no changes made.\n')
            return
          }
          if (flags['output-patch']) io.out(`Patch: ${goJson(patch)}\n`)
          await endpoint.patch(name, patch as object, { type: 'merge', fieldManager: flags['field-manager'] ?? '', fieldValidation })
          io.out(`${fullNameOf(resource, name)} edited\n`)
        },
      })
    }
  },
})
