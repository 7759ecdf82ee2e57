// A form made of the schema of a kind. It shows required fields and fields that have a value; the others are added by name.

import { createContext } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { pathText } from '../change/object-changes.js'
import type { KindSchema } from '../editor/kind-schema.js'
import { cellText, countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import { type Path, valueAt, withKey, withoutValue, withValue } from './edit-value.js'
import { type FormField, formField, formFields, readTyped } from './form-fields.js'

interface ObjectFormProps {
  readonly schema: KindSchema
  readonly object: unknown
  readonly onChange: (object: unknown) => void
}

const FormContext = createContext<ObjectFormProps | undefined>(undefined)

/** Maximum number of items that the form shows; the YAML shows the rest. */
const maxShownItems = 50
const maxDescriptionCharacters = 300

export const ObjectForm = (props: ObjectFormProps) => (
  <FormContext.Provider value={props}>
    <fieldset class="object-form" aria-label="Fields of the object">
      <Members path={[]} />
    </fieldset>
  </FormContext.Provider>
)

function useForm() {
  const form = useContext(FormContext)
  if (form === undefined) throw new Error('the field is outside of a form')
  const { schema, object, onChange } = form
  return {
    schema,
    read: (path: Path): unknown => valueAt(object, path),
    set: (path: Path, value: unknown): void => onChange(value === undefined ? withoutValue(object, path) : withValue(object, path, value)),
    rename: (path: Path, from: string, to: string): void => onChange(withKey(object, path, from, to)),
  }
}

interface PathProps {
  readonly path: Path
}

function Members({ path }: PathProps) {
  const { schema, read, set } = useForm()
  const fields = formFields(schema, path)
  const isShown = ({ name, isRequired }: FormField): boolean => isRequired || read([...path, name]) !== undefined
  const others = fields.filter((field) => !isShown(field))
  return (
    <>
      {fields.filter(isShown).map((field) => (
        <Field key={field.name} field={field} path={[...path, field.name]} />
      ))}
      {others.length > 0 && (
        <select
          class="add-field"
          aria-label={path.length === 0 ? 'Add a field' : `Add a field to ${labelOf(path)}`}
          value=""
          onChange={({ currentTarget }) => {
            const field = others.find(({ name }) => name === currentTarget.value)
            currentTarget.value = ''
            if (field !== undefined) set([...path, field.name], firstValue(schema, [...path, field.name], field))
          }}
        >
          <option value="">+ field</option>
          {others.map(({ name, type }) => (
            <option key={name} value={name}>
              {name} ({type})
            </option>
          ))}
        </select>
      )}
    </>
  )
}

interface FieldProps extends PathProps {
  readonly field: FormField
}

function Field({ field, path }: FieldProps) {
  const { set } = useForm()
  const id = useId()
  const { name, type, isRequired, description, fallback, control } = field
  const isGroup = control === 'object' || control === 'list' || control === 'map'
  const head = (
    <>
      <b>{typeof path.at(-1) === 'number' ? `[${name}]` : name}</b>
      {isRequired && <span class="required">required</span>}
      <small>
        {type}
        {fallback !== undefined && ` · default ${shortened(fallback, 60)}`}
      </small>
    </>
  )
  const remove = !isRequired && (
    <button type="button" class="remove" aria-label={`Remove ${labelOf(path)}`} onClick={() => set(path, undefined)}>
      ×
    </button>
  )
  const hint = description !== '' && <p class="hint">{shortened(description, maxDescriptionCharacters)}</p>
  if (!isGroup)
    return (
      <div class="form-field">
        <label for={id}>{head}</label>
        {remove}
        <Control id={id} field={field} path={path} />
        {hint}
      </div>
    )
  return (
    <details class="form-group" open>
      <summary>{head}</summary>
      {remove}
      {hint}
      <div class="form-members">
        {control === 'object' ? <Members path={path} /> : control === 'list' ? <Items path={path} /> : <Entries path={path} />}
      </div>
    </details>
  )
}

interface ControlProps extends FieldProps {
  readonly id: string
}

function Control({ id, field, path }: ControlProps) {
  const { read, set } = useForm()
  const { control, choices, fallback, isRequired } = field
  const value = read(path)
  const text = cellText(value)
  const label = labelOf(path)
  // A required text stays in the object when it is empty: the server names the field then.
  const change = (typed: string): void => set(path, readTyped(control, typed) ?? (isRequired && control === 'text' ? '' : undefined))
  if (control === 'other' || (typeof value === 'object' && value !== null))
    return (
      <p class="hint" id={id}>
        {value === undefined ? 'Any value: write it in the YAML.' : <code>{shortened(text, 120)}</code>}
      </p>
    )
  if (control === 'choice' || control === 'boolean')
    return (
      <select id={id} aria-label={label} value={text} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {!choices.includes(text) && <option value={text}>{text}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  if (text.includes('\n'))
    return <textarea id={id} aria-label={label} rows={4} value={text} onInput={({ currentTarget }) => change(currentTarget.value)} />
  return (
    <input
      id={id}
      aria-label={label}
      type="text"
      inputMode={control === 'number' ? 'decimal' : 'text'}
      spellcheck={false}
      autocomplete="off"
      placeholder={fallback ?? ''}
      value={text}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

function Items({ path }: PathProps) {
  const { schema, read, set } = useForm()
  const value = read(path)
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  return (
    <>
      {items.slice(0, maxShownItems).map((_, i) => {
        const field = formField(schema, [...path, i])
        return field && <Field key={i} field={field} path={[...path, i]} />
      })}
      <More count={items.length - maxShownItems} />
      <button
        type="button"
        aria-label={`Add an item to ${labelOf(path)}`}
        onClick={() => {
          const at = [...path, items.length]
          const field = formField(schema, at)
          if (field !== undefined) set(at, firstValue(schema, at, field))
        }}
      >
        + item
      </button>
    </>
  )
}

function Entries({ path }: PathProps) {
  const { schema, read, set, rename } = useForm()
  const value = read(path)
  const members = typeof value === 'object' && value !== null ? Object.keys(value) : []
  return (
    <>
      {members.slice(0, maxShownItems).map((name, i) => {
        const field = formField(schema, [...path, name])
        return (
          <div class="form-entry" key={i}>
            <input
              type="text"
              spellcheck={false}
              aria-label={`Key of ${labelOf([...path, name])}`}
              value={name}
              onChange={({ currentTarget }) => rename(path, name, currentTarget.value)}
            />
            {field && <Field field={field} path={[...path, name]} />}
          </div>
        )
      })}
      <More count={members.length - maxShownItems} />
      <button
        type="button"
        aria-label={`Add an entry to ${labelOf(path)}`}
        onClick={() => {
          const at = [...path, newKey(members)]
          const field = formField(schema, at)
          if (field !== undefined) set(at, firstValue(schema, at, field))
        }}
      >
        + entry
      </button>
    </>
  )
}

const More = ({ count }: { readonly count: number }) => (count > 0 ? <p class="hint">{countText(count)} more in the YAML</p> : null)

function newKey(members: readonly string[]): string {
  let number = members.length + 1
  while (members.includes(`key-${number}`)) number++
  return `key-${number}`
}

function firstValue(schema: KindSchema, path: Path, { control, choices }: FormField): unknown {
  if (control === 'choice') return choices[0] ?? ''
  if (control === 'map' || control === 'other') return {}
  return schema.skeleton(path)
}

const labelOf = (path: Path): string => pathText(path.map(String))
