// What became of an edit: a message, conflicts to decide, the preview of a dry run, or an error.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import type { DynamicObject } from '@cluster-apiserver/client/browser.js'
import { useMemo } from 'preact/hooks'
import { DiffView } from '../object/diff-view.js'
import { lineText, yamlLines } from '../object/yaml-lines.js'
import { PolicyDenial } from '../policies/policy-denial.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import { type Conflict, pathText } from './object-changes.js'

const maxFields = 200
const maxReasons = 20

interface PreviewResult {
  readonly before: DynamicObject
  readonly after: DynamicObject
  /** Paths of fields that defaults and admission set. */
  readonly added: readonly string[]
}

interface ConflictsResult {
  readonly conflicts: readonly Conflict[]
  readonly decisions: ReadonlyMap<string, boolean>
}

export type Result = PreviewResult | ConflictsResult | { readonly message: string } | { readonly error: unknown; readonly title: string }

type OnDecision = (conflicts: readonly Conflict[], chosen: readonly Conflict[], takesOver: boolean) => void

interface EditResultProps {
  readonly result: Result
  /** The edited YAML. */
  readonly text: string
  readonly onDecision: OnDecision
}

export function EditResult({ result, text, onDecision }: EditResultProps) {
  if ('message' in result) return <p class="empty">{result.message}</p>
  if ('title' in result)
    return (
      <>
        <ErrorPanel {...result} />
        <PolicyDenial error={result.error} object={text} operation="UPDATE" />
      </>
    )
  if ('conflicts' in result) return <Conflicts {...result} onDecision={onDecision} />
  return <Preview {...result} />
}

function Preview({ before, after, added }: PreviewResult) {
  const lines = useMemo(() => [before, after].map((object) => yamlLines(object as unknown as Json).map(lineText)), [before, after])
  return (
    <>
      <h2>Preview</h2>
      <DiffView before={lines[0] ?? []} after={lines[1] ?? []} label="Changes of the dry run" />
      {added.length > 0 && (
        <p>
          Set by defaults and admission:{' '}
          {added.slice(0, maxFields).map((path) => (
            <code class="pair" key={path}>
              {path}
            </code>
          ))}
        </p>
      )}
    </>
  )
}

function Conflicts({ conflicts, decisions, onDecision }: ConflictsResult & { readonly onDecision: OnDecision }) {
  return (
    <>
      <h2>Conflicts</h2>
      <p>Other writers set these fields. Decide each before the change is sent.</p>
      <ul class="conflicts">
        {conflicts.slice(0, maxFields).map((conflict) => (
          <ConflictItem
            key={conflict.key}
            conflict={conflict}
            decision={decisions.get(conflict.key)}
            decide={(takesOver) => onDecision(conflicts, [conflict], takesOver)}
          />
        ))}
      </ul>
      {conflicts.length > maxFields && <p>and {countText(conflicts.length - maxFields)} more</p>}
      {conflicts.length > 1 && (
        <>
          <button type="button" onClick={() => onDecision(conflicts, conflicts, true)}>
            Take over all
          </button>
          <button type="button" onClick={() => onDecision(conflicts, conflicts, false)}>
            Give up all
          </button>
        </>
      )}
    </>
  )
}

interface ConflictItemProps {
  readonly conflict: Conflict
  readonly decision: boolean | undefined
  readonly decide: (takesOver: boolean) => void
}

function ConflictItem({ conflict: { path, value, reasons }, decision, decide }: ConflictItemProps) {
  const field = pathText(path)
  return (
    <li class="conflict">
      <code>{field}</code>
      <span> your value: {value === null ? 'removed' : shortened(JSON.stringify(value), 200)}</span>
      {reasons.slice(0, maxReasons).map((reason) => (
        <p key={reason}>{shortened(reason, 300)}</p>
      ))}
      <button type="button" aria-pressed={decision === true} aria-label={`Take over ${field}`} onClick={() => decide(true)}>
        Take over
      </button>
      <button type="button" aria-pressed={decision === false} aria-label={`Give up ${field}`} onClick={() => decide(false)}>
        Give up
      </button>
    </li>
  )
}
