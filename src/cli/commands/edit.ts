// Opens an object in an editor, and sends what was changed there.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { explain, Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { objectsOf } from '../manifests.js'
import { withoutOwners, yamlText } from '../output/documents.js'
import { fullNameOf, type Named, wantedBy } from '../targets.js'

const note = `# Change the object below, save and leave the editor. Lines that begin with # are left out.
# An empty file, or one without a change, changes nothing.
#
`

export const command = defineCommand({
  usage: 'edit TYPE NAME [flags]',
  about: 'change an object in an editor',
  flags: {
    subresource: { kind: 'text', help: 'of a part of the object, such as status' },
    'field-manager': { kind: 'text', initial: 'clusterctl', help: 'who owns the fields that are written' },
  },
  run: async (work) => {
    const { named } = await wantedBy(work.args, { session: work.session })
    if (named.length === 0) throw new UsageError('name the object that is to be edited, as TYPE NAME or TYPE/NAME')
    for (const one of named) await editOne(one)
    return 0

    async function editOne({ collection, name, resource }: Named): Promise<void> {
      const { flags, io } = work
      const part = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
      const live = withoutOwners(await part.get(name))
      const folder = mkdtempSync(join(tmpdir(), 'clusterctl-edit-'))
      const file = join(folder, `${name}.yaml`)
      let text = `${note}${yamlText(live)}`
      let isKept = false
      const keep = (why: string): Failure => {
        isKept = true
        return new Failure(`${why}\n  what you wrote is in ${file}`)
      }
      try {
        await editUntilSent()
      } finally {
        if (!isKept) rmSync(folder, { recursive: true })
      }

      async function editUntilSent(): Promise<void> {
        for (;;) {
          writeFileSync(file, text)
          const problem = problemOfEditor(file)
          if (problem !== undefined) throw readFileSync(file, 'utf8') === text ? new Failure(problem) : keep(problem)
          const edited = readFileSync(file, 'utf8')
          const lines = edited
            .split('\n')
            .filter((line) => !line.startsWith('#'))
            .join('\n')
          if (lines.trim() === '' || edited === text || lines === yamlText(live)) {
            io.err('Edit cancelled, no changes made.\n')
            return
          }
          try {
            const [object] = objectsOf(lines, file)
            if (object === undefined) throw new Failure('there is no object in the file')
            await part.update(object as DynamicObject, { fieldManager: flags['field-manager'] ?? '' })
            io.out(`${fullNameOf(resource, name)} edited\n`)
            return
          } catch (thrown) {
            const why = explain(thrown).trimEnd()
            // Nobody can mend it where there is no terminal; what was written is not lost.
            if (!io.isTerminal) throw keep(why.replace(/^error: /, ''))
            text = `${note}${why
              .split('\n')
              .map((line) => `# ${line}\n`)
              .join('')}#\n${lines}`
          }
        }
      }
    }
  },
})

function problemOfEditor(file: string): string | undefined {
  const editor = process.env['KUBE_EDITOR'] || process.env['EDITOR'] || 'vi'
  const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
  return status === 0 ? undefined : `the editor "${editor}" failed; EDITOR names another one`
}
