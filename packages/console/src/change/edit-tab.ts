// The tab that edits an object: completion and explanation by its schema, a preview by dry run, and conflicts decided field by field.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import { type DynamicObject, isConflict } from '@cluster-apiserver/client/browser.js'
import { button, element, replaceChildren } from '../dom/element.js'
import { diffView } from '../object/diff-view.js'
import type { ObjectContext, ObjectTab } from '../object/object-context.js'
import { lineText, yamlLines } from '../object/yaml-lines.js'
import type { Session } from '../session/session.js'
import { errorPanel } from '../shell/legacy.js'
import { countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import { ownersOf } from '../understand/field-notes.js'
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
} from './object-changes.js'
import { SchemaPanel } from './schema-panel.js'
import { patchAt, problemsOf, sendPatch } from './send-change.js'
import { YamlEditor } from './yaml-editor.js'

const maxFields = 200
const maxReasons = 20

interface Draft {
  readonly session: Session
  readonly user: string
  readonly uid: string | undefined
  readonly base: DynamicObject
  readonly text: string
}

/** The last edit that was not sent: kept while its user looks at other pages, or signs in again after the token expired. */
let lastDraft: Draft | undefined

function draftOf({ session, object }: ObjectContext): Draft | undefined {
  const isOwn = lastDraft?.session === session || (session.user !== '' && lastDraft?.user === session.user)
  if (!isOwn) lastDraft = undefined
  return lastDraft?.uid !== undefined && lastDraft.uid === object.metadata?.uid ? lastDraft : undefined
}

export const editTab: ObjectTab = {
  id: 'edit',
  title: 'Edit',
  isOffered: ({ resource }) => resource.verbs.includes('patch'),
  show: (host, context) => new EditView(host, context).update,
}

class EditView {
  private context: ObjectContext
  private base: DynamicObject
  private baseText: string
  private readonly editor: YamlEditor
  private readonly result = element('div', { class: 'edit-result', role: 'status' })
  private readonly note = element('span', { class: 'hint' })
  /** Decisions of the user by the key of the conflict: true takes the field over. */
  private readonly decisions = new Map<string, boolean>()

  constructor(host: HTMLElement, context: ObjectContext) {
    this.context = context
    this.base = editable(context.object, context.resource)
    this.baseText = yamlText(this.base)
    const panel = new SchemaPanel(context, (schema) => {
      editor.schema = schema
    })
    const editor = new YamlEditor({
      label: 'Object as YAML',
      onField: (path) => panel.show(path),
      onChange: () => {
        this.decisions.clear()
        this.keepDraft()
      },
    })
    this.editor = editor
    replaceChildren(
      host,
      element(
        'div',
        { class: 'tools' },
        button('Preview', () => void this.preview()),
        button('Apply', () => void this.apply(), { class: 'primary' }),
        button('Reset', () => this.reset()),
        this.note,
      ),
      this.result,
      element('div', { class: 'edit-columns' }, editor.root, panel.root),
    )
    const draft = draftOf(context)
    this.reset()
    if (draft !== undefined) this.restore(draft)
  }

  /** A newer version: shown at once if nothing is edited, merged when the change is sent otherwise. */
  readonly update = (context: ObjectContext): void => {
    const isSame = context.object.metadata?.resourceVersion === this.context.object.metadata?.resourceVersion
    this.context = context
    // The watch begins with the version that was read.
    if (isSame && !context.isDeleted) return
    if (this.editor.text === this.baseText) this.reset()
    else
      replaceChildren(
        this.note,
        context.isDeleted ? 'The object is deleted.' : 'The object changed meanwhile; the preview compares with its newest version.',
      )
  }

  private keepDraft(): void {
    const { session, object } = this.context
    const { base, baseText } = this
    const { text } = this.editor
    lastDraft = text === baseText ? undefined : { user: session.user, session, uid: object.metadata?.uid, base, text }
  }

  private restore({ base, text }: Draft): void {
    this.base = base
    this.baseText = yamlText(base)
    this.editor.text = text
    this.keepDraft()
    replaceChildren(this.note, 'Your edit from before; Reset gives it up.')
  }

  private reset(): void {
    if (lastDraft?.uid === this.context.object.metadata?.uid) lastDraft = undefined
    this.base = editable(this.context.object, this.context.resource)
    this.baseText = yamlText(this.base)
    if (this.editor.text !== this.baseText) this.editor.text = this.baseText
    this.decisions.clear()
    replaceChildren(this.note)
    replaceChildren(this.result)
  }

  /** The patch of the user's changes, without those given up; undefined while a conflict is undecided. */
  private decide(live: DynamicObject): Patch | undefined {
    const edited = readYaml(this.editor.text).value
    const mine = patchBetween(this.base, edited)
    const changed = mine && withoutFields(mine, [['metadata', 'resourceVersion']])
    if (changed === undefined) {
      replaceChildren(this.result, element('p', { class: 'empty' }, 'Nothing is changed.'))
      return undefined
    }
    const theirs = patchBetween(this.base, editable(live, this.context.resource))
    const conflicts = findConflicts(changed, theirs, ownersOf(live))
    const undecided = conflicts.filter(({ key }) => !this.decisions.has(key))
    if (undecided.length > 0) {
      this.showConflicts(conflicts)
      return undefined
    }
    const given = conflicts.filter(({ key }) => this.decisions.get(key) === false).map(({ path }) => path)
    const left = withoutFields(changed, given)
    if (left === undefined) replaceChildren(this.result, element('p', { class: 'empty' }, 'All changes are given up.'))
    return left
  }

  private showConflicts(conflicts: readonly Conflict[]): void {
    const decide = (chosen: readonly Conflict[], takesOver: boolean): void => {
      for (const { key } of chosen) this.decisions.set(key, takesOver)
      if (conflicts.every(({ key }) => this.decisions.has(key))) void this.preview()
      else this.showConflicts(conflicts)
    }
    const rows = conflicts.slice(0, maxFields).map((conflict) => {
      const { path, value, reasons, key } = conflict
      const decision = this.decisions.get(key)
      return element(
        'li',
        { class: 'conflict' },
        element('code', {}, pathText(path)),
        element('span', {}, ` your value: ${value === null ? 'removed' : shortened(JSON.stringify(value), 200)}`),
        ...reasons.slice(0, maxReasons).map((reason) => element('p', {}, shortened(reason, 300))),
        button('Take over', () => decide([conflict], true), {
          'aria-pressed': String(decision === true),
          'aria-label': `Take over ${pathText(path)}`,
        }),
        button('Give up', () => decide([conflict], false), {
          'aria-pressed': String(decision === false),
          'aria-label': `Give up ${pathText(path)}`,
        }),
      )
    })
    replaceChildren(
      this.result,
      element('h2', {}, 'Conflicts'),
      element('p', {}, 'Other writers set these fields. Decide each before the change is sent.'),
      element('ul', { class: 'conflicts' }, ...rows),
      conflicts.length > maxFields && element('p', {}, `and ${countText(conflicts.length - maxFields)} more`),
      conflicts.length > 1 && button('Take over all', () => decide(conflicts, true)),
      conflicts.length > 1 && button('Give up all', () => decide(conflicts, false)),
    )
  }

  private async preview(): Promise<void> {
    await this.attempt('The server would refuse the change', async () => {
      const live = this.context.object
      const patch = this.decide(live)
      if (patch === undefined) return
      const result = await patchAt(this.collection(), live, patch, true)
      const { resource } = this.context
      const [before, after] = [editable(live, resource), editable(result, resource)]
      const added = withoutServerFields(fieldsOf(patchBetween(applyPatch(before, patch), after) ?? {})).filter(
        ({ path }) => path.length > 0,
      )
      replaceChildren(
        this.result,
        element('h2', {}, 'Preview'),
        diffView(textLines(before), textLines(after), 'Changes of the dry run'),
        added.length > 0 &&
          element(
            'p',
            {},
            'Set by defaults and admission: ',
            ...added.slice(0, maxFields).map(({ path }) => element('code', { class: 'pair' }, pathText(path))),
          ),
      )
    })
  }

  private async apply(): Promise<void> {
    await this.attempt('The server refused the change', async () => {
      for (let retriesLeft = 1; ; retriesLeft--) {
        const live = this.context.object
        const patch = this.decide(live)
        if (patch === undefined) return
        try {
          const after = await sendPatch({ collection: this.collection(), before: live, patch, done: 'changed' })
          this.context = { ...this.context, object: after }
          this.reset()
          return
        } catch (thrown) {
          if (!isConflict(thrown) || retriesLeft <= 0) throw thrown
          // Another writer was faster than the watch: the conflicts are decided for the newest version.
          this.context = { ...this.context, object: await this.collection().get(this.context.name) }
        }
      }
    })
  }

  private async attempt(title: string, run: () => Promise<void>): Promise<void> {
    this.editor.setProblems([])
    try {
      await run()
    } catch (thrown) {
      const problems = problemsOf(thrown, this.editor.scan())
      this.editor.setProblems(problems)
      replaceChildren(this.result, errorPanel(thrown, title))
    }
  }

  private collection() {
    const { session, resource, namespace } = this.context
    return session.client.collection<DynamicObject>(resource, namespace)
  }
}

export const yamlText = (object: DynamicObject): string => writeYaml(object as unknown as Json)

const textLines = (object: DynamicObject): readonly string[] => yamlLines(object as unknown as Json).map(lineText)
