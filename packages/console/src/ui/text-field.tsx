// A labelled text field, with suggested values where it has any.

import { useId } from 'preact/hooks'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly choices?: readonly string[]
  readonly onInput: (value: string) => void
}

export function TextField({ label, value, placeholder = '', choices, onInput }: TextFieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        id={id}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        list={choices && `${id}-list`}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {choices && (
        <datalist id={`${id}-list`}>
          {choices.map((each) => (
            <option value={each} key={each} />
          ))}
        </datalist>
      )}
    </div>
  )
}
