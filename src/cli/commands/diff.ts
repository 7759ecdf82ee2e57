// Shows what an apply would change; 1 where something would, more than 1 where it cannot be told.

import { applyObject } from '../apply-object.js'
import { defineCommand } from '../command.js'
import { explain } from '../failure.js'
import { UsageError } from '../flags.js'
import { withoutOwners, yamlText } from '../output/documents.js'
import { unifiedDiff } from '../output/unified-diff.js'
import { fileFlags, fullNameOf, readFiled, selectFlags } from '../targets.js'

export const command = defineCommand({
  usage: 'diff -f FILE [flags]',
  about: 'show what an apply would change',
  examples: ['diff -f shop/'],
  flags: {
    ...fileFlags,
    selector: selectFlags.selector,
    'field-manager': { kind: 'text', initial: 'clusterctl', help: 'who would own the fields' },
    'force-conflicts': { kind: 'switch', help: 'as if fields of others were taken over' },
    'server-side': { kind: 'switch', help: 'it always is' },
    'show-managed-fields': { kind: 'switch', help: 'with who owns which field' },
  },
  takesNoWords: true,
  failureCode: 2,
  run: async (work) => {
    const { flags, io } = work
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    let differences = 0
    try {
      for (const one of await readFiled(flags, work)) {
        const { collection, name, resource } = one
        const live = await collection.find(name)
        const next = await applyObject(one, {
          fieldManager: flags['field-manager'] ?? '',
          force: flags['force-conflicts'],
          dryRun: true,
        })
        const shown = (one: typeof next | undefined): string =>
          one === undefined ? '' : yamlText(flags['show-managed-fields'] ? one : withoutOwners(one))
        const title = `${collection.namespace === undefined ? '' : `${collection.namespace}/`}${fullNameOf(resource, name)}`
        const text = unifiedDiff(shown(live), shown(next), [`live/${title}`, `merged/${title}`])
        if (text === '') continue
        differences++
        io.out(
          text.replaceAll(/^[-+@].*$/gm, (line) =>
            line.startsWith('+') ? io.style.green(line) : line.startsWith('-') ? io.style.red(line) : io.style.cyan(line),
          ),
        )
      }
    } catch (thrown) {
      io.err(explain(thrown))
      return 2
    }
    return differences > 0 ? 1 : 0
  },
})
