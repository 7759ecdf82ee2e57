// Opens objects in an editor, one after the other, and sends what was changed there.

import { mergeDifference } from '../../base/merge-difference.js'
import { defineCommand } from '../command.js'
import { editObject } from '../editing.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { goJson, withoutOwners } from '../output/documents.js'
import { outputOf, printFlags } from '../output/print-flags.js'
import { editFlags, validationFlag, validationOf } from '../results.js'
import { saveConfigFlag, withSavedConfig } from '../saved-config.js'
import { fileFlags, fullNameOf, type Named, readFiled, refuseWordsBesideFiles, wantedBy } from '../targets.js'

export const command = defineCommand({
  usage: 'edit (TYPE NAME… | TYPE/NAME… | -f FILE) [flags]',
  about: 'change an object in an editor',
  examples: ['edit configmap prices', 'edit deployment/shop -o json', 'edit -f shop.yaml'],
  flags: {
    ...fileFlags,
    ...printFlags,
    ...editFlags,
    output: { ...printFlags.output, help: 'yaml or json in the editor' },
    'output-patch': { kind: 'switch', help: 'show what is sent' },
    'save-config': saveConfigFlag,
    subresource: { kind: 'text', help: 'of a part of the object, such as status' },
    'field-manager': { kind: 'text', initial: 'clusterctl', help: 'who owns the fields that are written' },
    validate: validationFlag,
  },
  run: async (work) => {
    const { args, flags, io, session } = work
    refuseWordsBesideFiles(args, flags)
    const fieldValidation = validationOf(flags.validate)
    const named = flags.filename.length > 0 ? await readFiled(flags, work) : (await wantedBy(args, { session })).named
    if (named.length === 0) throw new UsageError('name the object that is to be edited, as TYPE NAME or TYPE/NAME')
    for (const one of named) await editOne(one)
    return 0

    async function editOne({ collection, name, resource }: Named): Promise<void> {
      const part = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
      const found = await part.get(name)
      const live = flags['show-managed-fields'] ? found : withoutOwners(found)
      await editObject({
        io,
        object: live,
        form: outputOf(flags),
        withCarriageReturns: flags['windows-line-endings'],
        send: async (edited) => {
          const { apiVersion, kind, metadata } = edited
          if (apiVersion !== live.apiVersion || kind !== live.kind || metadata?.name !== name)
            throw new Failure('at least one of apiVersion, kind and name was changed')
          // What others changed meanwhile stays, unless the version that was edited is asked for.
          const saved = flags['save-config'] ? await withSavedConfig(edited, true, session) : edited
          const patch = mergeDifference(live, saved)
          if (patch === undefined) {
            io.err('Edit cancelled, no changes made.\n')
            return
          }
          if (flags['output-patch']) io.out(`Patch: ${goJson(patch)}\n`)
          await part.patch(name, patch as object, { type: 'merge', fieldManager: flags['field-manager'] ?? '', fieldValidation })
          io.out(`${fullNameOf(resource, name)} edited\n`)
        },
      })
    }
  },
})
