// An object in an editor, again and again until what was made of it is taken.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamicObject } from '../client/objects.js'
import { explain, Failure } from './failure.js'
import { UsageError } from './flags.js'
import type { Io } from './io.js'
import { objectsOf } from './manifests.js'
import { jsonText, yamlText } from './output/documents.js'

const note = `# Change the object below, save and leave the editor. Lines that begin with # are left out.
# An empty file, or one without a change, changes nothing.
#
`

export interface Editing {
  readonly io: Io
  readonly object: DynamicObject
  /** `yaml` or `json`. */
  readonly form: string | undefined
  readonly withCarriageReturns: boolean
  send(edited: DynamicObject): Promise<void>
}

export async function editObject({ io, object, form, withCarriageReturns, send }: Editing): Promise<void> {
  if (form !== undefined && form !== '' && form !== 'yaml' && form !== 'json')
    throw new UsageError(`unable to match a printer suitable for the output format "${form}", allowed formats are: json,yaml`)
  const before = form === 'json' ? jsonText(object) : yamlText(object)
  const folder = mkdtempSync(join(tmpdir(), 'clusterctl-edit-'))
  const file = join(folder, `${(object.metadata?.name || 'new').replaceAll('/', '-')}.${form || 'yaml'}`)
  const shown = (text: string): string => (withCarriageReturns ? text.replaceAll('\n', '\r\n') : text)
  let text = shown(`${note}${before}`)
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
        .replaceAll('\r\n', '\n')
        .split('\n')
        .filter((line) => !line.startsWith('#'))
        .join('\n')
      if (lines.trim() === '' || edited === text || lines === before) {
        io.err('Edit cancelled, no changes made.\n')
        return
      }
      try {
        const [changed] = objectsOf(lines, file)
        if (changed === undefined) throw new Failure('there is no object in the file')
        await send(changed)
        return
      } catch (thrown) {
        const why = explain(thrown).trimEnd()
        // Nobody can mend it where there is no terminal; what was written is not lost.
        if (!io.isTerminal) throw keep(why.replace(/^error: /, ''))
        text = shown(
          `${note}${why
            .split('\n')
            .map((line) => `# ${line}\n`)
            .join('')}#\n${lines}`,
        )
      }
    }
  }
}

function problemOfEditor(file: string): string | undefined {
  const editor = process.env['KUBE_EDITOR'] || process.env['EDITOR'] || 'vi'
  const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
  return status === 0 ? undefined : `the editor "${editor}" failed; EDITOR names another one`
}
