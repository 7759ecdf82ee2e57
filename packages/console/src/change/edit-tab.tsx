// The tab that edits an object: completion and explanation by its schema, a preview by dry run, and conflicts decided field by field.

import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { type DynamicObject, isConflict } from '@cluster-apiserver/client/browser.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ExplainedEditor } from '../editor/explained-editor.js'
import type { Problem } from '../editor/problem-lines.js'
import { useKindSchema } from '../editor/schema-panel.js'
import type { ObjectContext } from '../object/object-context.js'
import { useSession } from '../session/session-context.js'
import { ownersOf } from '../understand/field-notes.js'
import { draftOf, dropDraft, keepDraft } from './draft.js'
import { EditResult, type Result } from './edit-result.js'
import {
  applyPatch,
  type Conflict,
  editable,
  fieldsOf,
  findConflicts,
  type Patch,
  patchBetween,
  pathText,
  withoutFields,
  withoutServerFields,
  yamlText,
} from './object-changes.js'
import { patchAt, problemsOf, sendPatch } from './send-change.js'

const noProblems: readonly Problem[] = []

export function EditTab({ resource, namespace, name, object, isDeleted }: ObjectContext) {
  const session = useSession()
  const schema = useKindSchema(resource)
  const [draft] = useState(() => draftOf(session, object))
  const [base, setBase] = useState(() => draft?.base ?? editable(object, resource))
  const [text, setText] = useState(() => draft?.text ?? yamlText(base))
  const [note, setNote] = useState(draft && 'Your edit from before; Reset gives it up.')
  const [problems, setProblems] = useState(noProblems)
  const [result, setResult] = useState<Result>()
  /** Decisions of the user by the key of the conflict: true takes the field over. */
  const decisions = useRef(new Map<string, boolean>())
  /** The newest version: of the watch, or what a request returned. */
  const live = useRef(object)
  const isEdited = text !== yamlText(base)
  const collection = session.client.collection<DynamicObject>(resource, namespace)

  const reset = (): void => {
    const next = editable(live.current, resource)
    dropDraft(object)
    decisions.current.clear()
    setBase(next)
    setText(yamlText(next))
    setNote(undefined)
    setResult(undefined)
  }
  /** A newer version: shown at once if nothing is edited, merged when the change is sent otherwise. */
  useEffect(() => {
    if (object === live.current && !isDeleted) return
    const isSame = object.metadata?.resourceVersion === live.current.metadata?.resourceVersion
    live.current = object
    // The watch begins with the version that was read.
    if (isSame && !isDeleted) return
    if (!isEdited) reset()
    else setNote(isDeleted ? 'The object is deleted.' : 'The object changed meanwhile; the preview compares with its newest version.')
  }, [object, isDeleted])

  const onText = (next: string): void => {
    decisions.current.clear()
    setText(next)
    if (next === yamlText(base)) dropDraft(object)
    else keepDraft({ session, object, base, text: next })
  }

  /** The patch of the user's changes, without those given up; undefined while a conflict is undecided. */
  const decide = (): Patch | undefined => {
    const mine = patchBetween(base, readYaml(text).value)
    const changed = mine && withoutFields(mine, [['metadata', 'resourceVersion']])
    if (changed === undefined) {
      setResult({ message: 'Nothing is changed.' })
      return undefined
    }
    const theirs = patchBetween(base, editable(live.current, resource))
    const conflicts = findConflicts(changed, theirs, ownersOf(live.current))
    if (conflicts.some(({ key }) => !decisions.current.has(key))) {
      setResult({ conflicts, decisions: new Map(decisions.current) })
      return undefined
    }
    const given = conflicts.filter(({ key }) => decisions.current.get(key) === false).map((conflict) => conflict.path)
    const left = withoutFields(changed, given)
    if (left === undefined) setResult({ message: 'All changes are given up.' })
    return left
  }

  const preview = async (): Promise<void> => {
    const patch = decide()
    if (patch === undefined) return
    const after = editable(await patchAt(collection, live.current, patch, true), resource)
    const before = editable(live.current, resource)
    const added = withoutServerFields(fieldsOf(patchBetween(applyPatch(before, patch), after) ?? {})).filter(
      (field) => field.path.length > 0,
    )
    setResult({ before, after, added: added.map((field) => pathText(field.path)) })
  }

  const apply = async (): Promise<void> => {
    for (let retriesLeft = 1; ; retriesLeft--) {
      const patch = decide()
      if (patch === undefined) return
      try {
        live.current = await sendPatch({ collection, before: live.current, patch, done: 'changed' })
        reset()
        return
      } catch (thrown) {
        if (!isConflict(thrown) || retriesLeft <= 0) throw thrown
        // Another writer was faster than the watch: the conflicts are decided for the newest version.
        live.current = await collection.get(name)
      }
    }
  }

  const attempt = async (title: string, run: () => Promise<void>): Promise<void> => {
    setProblems(noProblems)
    try {
      await run()
    } catch (thrown) {
      setProblems(problemsOf(thrown, text))
      setResult({ error: thrown, title })
    }
  }
  const tryPreview = (): void => void attempt('The server would refuse the change', preview)
  const onDecision = (conflicts: readonly Conflict[], chosen: readonly Conflict[], takesOver: boolean): void => {
    for (const { key } of chosen) decisions.current.set(key, takesOver)
    if (conflicts.every(({ key }) => decisions.current.has(key))) tryPreview()
    else setResult({ conflicts, decisions: new Map(decisions.current) })
  }
  return (
    <>
      <div class="tools">
        <button type="button" onClick={tryPreview}>
          Preview
        </button>
        <button type="button" class="primary" onClick={() => void attempt('The server refused the change', apply)}>
          Apply
        </button>
        <button type="button" onClick={reset}>
          Reset
        </button>
        <span class="hint">{note}</span>
      </div>
      <div class="edit-result" role="status">
        {result && <EditResult result={result} text={text} onDecision={onDecision} />}
      </div>
      <ExplainedEditor label="Object as YAML" text={text} onText={onText} problems={problems} loaded={schema} />
    </>
  )
}
