import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import ExpiryPicture from './ExpiryPicture.vue'
import './site.css'
import './tables.css'
import './home.css'

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('ExpiryPicture', ExpiryPicture)
  },
}
export default theme
