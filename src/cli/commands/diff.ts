// Shows what an apply would change; 1 where something would, more than 1 where it cannot be told.

import type { DynamicObject } from '../../client/objects.js'
import { applyObject } from '../apply-object.js'
import { defineCommand, type Work } from '../command.js'
import { UsageError } from '../flags.js'
import { withoutOwners, yamlText } from '../output/documents.js'
import type { Compared } from '../output/external-diff.js'
import { unifiedDiff } from '../output/unified-diff.js'
import { fileFlags, fullNameOf, type Named, readFiled, selectFlags } from '../targets.js'

export const command = defineCommand({
  usage: 'diff -f FILE [flags]',
  about: 'show what an apply would change',
  examples: ['diff -f shop/', 'diff -f shop/ --prune -l app=shop'],
  flags: {
    ...fileFlags,
    selector: selectFlags.selector,
    'field-manager': { kind: 'text', initial: 'clusterctl', help: 'who would own the fields' },
    'force-conflicts': { kind: 'switch', help: 'as if fields of others were taken over' },
    'server-side': { kind: 'switch', help: 'it always is' },
    'show-managed-fields': { kind: 'switch', help: 'with who owns which field' },
    prune: { kind: 'switch', help: 'with what an apply with --prune would delete' },
    'prune-allowlist': { kind: 'texts', help: 'with --prune: further kinds, as group/version/Kind' },
  },
  takesNoWords: true,
  failureCode: 2,
  run: async (work) => {
    const { flags, session } = work
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    const show = (one: DynamicObject | undefined): string =>
      one === undefined ? '' : yamlText(flags['show-managed-fields'] ? one : withoutOwners(one))
    const compared: (Compared & { readonly title: string })[] = []
    const compare = (named: Named, live: DynamicObject | undefined, merged: DynamicObject | undefined): void => {
      const [before, after] = [show(live), show(merged)]
      if (before !== after) compared.push({ file: fileOf(named), title: titleOf(named), live: before, merged: after })
    }
    const manager = flags['field-manager'] ?? ''
    const filed = await readFiled(flags, work)
    for (const one of filed) {
      const live = await one.collection.find(one.name)
      compare(one, live, await applyObject(one, { fieldManager: manager, force: flags['force-conflicts'], dryRun: true }))
    }
    if (flags.prune) {
      const { prunable } = await import('../prune.js')
      for await (const one of prunable({ filed, manager, selector: flags.selector, allowed: flags['prune-allowlist'] }, session))
        compare(one, await one.collection.find(one.name), undefined)
    }
    if (compared.length === 0) return 0
    return showDifferences(compared, work)
  },
})

async function showDifferences(compared: readonly (Compared & { readonly title: string })[], { io }: Pick<Work, 'io'>): Promise<number> {
  const program = process.env['KUBECTL_EXTERNAL_DIFF'] || undefined
  if (program !== undefined) {
    const { runExternalDiff } = await import('../output/external-diff.js')
    const { text, errors, code } = runExternalDiff(program, compared)
    io.raw(text)
    if (errors !== '') io.err(errors)
    return code
  }
  for (const { title, live, merged } of compared) {
    const text = unifiedDiff(live, merged, [`live/${title}`, `merged/${title}`])
    io.out(
      text.replaceAll(/^[-+@].*$/gm, (line) =>
        line.startsWith('+') ? io.style.green(line) : line.startsWith('-') ? io.style.red(line) : io.style.cyan(line),
      ),
    )
  }
  return 1
}

const titleOf = ({ collection, resource, name }: Named): string =>
  `${collection.namespace === undefined ? '' : `${collection.namespace}/`}${fullNameOf(resource, name)}`

/** As other programs that compare folders know it. */
const fileOf = ({ collection, resource, name }: Named): string =>
  [resource.group, resource.version, resource.kind, collection.namespace ?? '', name]
    .filter((word, i) => word !== '' || i > 0)
    .join('.')
    .replaceAll('/', '-')
